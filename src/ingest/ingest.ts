import type { Database, Transaction } from '../database/kysely.ts';
import { explainingConflicts } from '../recordings/conflicts.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { type Accepted, accept } from './accept.ts';
import type { Intake } from './intake.ts';

/** What a door writes in the transaction that accepts its intake; a rejection rolls all of it back. */
export type Alongside = (trx: Transaction, accepted: Accepted) => Promise<void>;

/** What every door hands its intakes to. */
export class Ingest {
  readonly #database: Database;
  readonly #parts: { staging: StagingLedger; definitions: WorkflowDefinitions };

  constructor({
    database,
    ...parts
  }: {
    database: Database;
    staging: StagingLedger;
    definitions: WorkflowDefinitions;
  }) {
    this.#database = database;
    this.#parts = parts;
  }

  /**
   * Asks whether an intake would be accepted now, and writes nothing.
   *
   * @throws what `accept` throws
   */
  async rehearse(intake: Intake): Promise<void> {
    const rehearsed = new Error('It would have been accepted.');
    const undo = () => Promise.reject(rehearsed);
    await this.accept(intake, undo).catch((error) => {
      if (error !== rehearsed) throw error;
    });
  }

  /**
   * Accepts an intake in a transaction, and again when another one came between: so `alongside` may run several times.
   *
   * @throws {ScheduleConflict} when something else is to be recorded at that time
   * @throws what `accept` throws besides
   */
  accept(intake: Intake, alongside?: Alongside): Promise<Accepted> {
    return explainingConflicts(this.#database, intake.principal, async (trx) => {
      const accepted = await accept(trx, intake, this.#parts);
      await alongside?.(trx, accepted);
      return accepted;
    });
  }
}
