import type { Principal } from '../access/principal.ts';
import type { Database, Transaction } from '../database/kysely.ts';
import { explainingConflicts } from '../recordings/conflicts.ts';
import type { StagingLedger } from '../storage/staging.ts';
import type { WorkflowDefinitions } from '../workflows/definitions.ts';
import { type Accepted, accept } from './accept.ts';
import type { Intake } from './intake.ts';

/** What a door writes in the transaction that accepts its intake; a rejection rolls all of it back. */
export type Alongside = (trx: Transaction, accepted: Accepted) => Promise<void>;

/** Accepts an intake in the transaction of whoever has planned it. @throws what `accept` throws */
export type Accept = (intake: Intake) => Promise<Accepted>;

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
   * Runs a transaction in which it is found out first what is to be accepted; again when another one came between.
   *
   * @throws {ScheduleConflict} when something else is to be recorded at that time
   */
  within<T>(principal: Principal, work: (trx: Transaction, accept: Accept) => Promise<T>): Promise<T> {
    return explainingConflicts(this.#database, principal, (trx) =>
      work(trx, (intake) => accept(trx, intake, this.#parts)),
    );
  }

  /**
   * Accepts an intake in a transaction, and again when another one came between: so `alongside` may run several times.
   *
   * @throws {ScheduleConflict} when something else is to be recorded at that time
   * @throws what `accept` throws besides
   */
  accept(intake: Intake, alongside?: Alongside): Promise<Accepted> {
    return this.within(intake.principal, async (trx, accept) => {
      const accepted = await accept(intake);
      await alongside?.(trx, accepted);
      return accepted;
    });
  }
}
