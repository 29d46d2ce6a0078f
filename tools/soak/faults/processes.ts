import type { Fault } from '../plan.ts';
import type { SoakClock } from '../world/clock.ts';
import type { SoakProcess } from '../world/process.ts';

const HELD_SECONDS = [5, 40] as const;
/** Forward and back, across what leases, sessions and signatures last. */
const STEPS_SECONDS = [-3600, -45, 45, 3600] as const;

/** It is ended at once, and started again as any supervisor does. */
export function kill(process: SoakProcess): Fault {
  return {
    name: `${process.name} is killed`,
    kind: `${process.role} is killed`,
    target: process.name,
    begin: () => process.kill(),
  };
}

/** What else happens to one of Inlet's processes. */
export function processFaults(process: SoakProcess): Fault[] {
  const fault = (what: string, more: Pick<Fault, 'begin' | 'end' | 'seconds'>): Fault => ({
    name: `${process.name} ${what}`,
    kind: `${process.role} ${what}`,
    target: process.name,
    ...more,
  });
  return [
    fault('is restarted', { begin: () => process.restart() }),
    fault('stands still', {
      begin: () => process.signal('SIGSTOP'),
      end: () => process.signal('SIGCONT'),
      seconds: HELD_SECONDS,
    }),
    fault('has a log that nobody reads', { begin: () => process.holdLog(), end: () => process.releaseLog() }),
    fault('has a log that is closed', { begin: () => process.closeLog() }),
  ];
}

/** The time of day of some processes is another than that of the others. */
export function clockSteps(clock: SoakClock): Fault[] {
  return STEPS_SECONDS.map((seconds) => ({
    name: `the clock of ${clock.whose} is stepped by ${seconds} s`,
    kind: 'a clock is stepped',
    target: 'clock',
    begin: () => clock.step(seconds),
    end: () => clock.step(0),
  }));
}
