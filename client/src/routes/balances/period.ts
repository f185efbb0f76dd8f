/** The instants between which a statement lies, as the service takes them. */
export interface Period {
  from?: string;
  to?: string;
}

/** Why two days are no period, by the field that is wrong. */
export type PeriodProblem = { field: 'from' | 'to'; reason: 'noDay' | 'reversed' };

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The beginning of a day in the reader's time zone, so many days later; null if it is no day. */
function beginning(day: string, later = 0): Date | null {
  if (!DAY.test(day)) return null;
  const date = new Date(`${day}T00:00:00`);
  if (Number.isNaN(date.getTime())) return null;
  date.setDate(date.getDate() + later);
  return date;
}

/** The period from one day to another, both included; an empty text leaves an end open. */
export function periodOf(from: string, to: string): Period | PeriodProblem {
  const first = from === '' ? null : beginning(from);
  if (from !== '' && first === null) return { field: 'from', reason: 'noDay' };
  const end = to === '' ? null : beginning(to, 1);
  if (to !== '' && end === null) return { field: 'to', reason: 'noDay' };
  if (first && end && end <= first) return { field: 'to', reason: 'reversed' };
  return { ...(first && { from: first.toISOString() }), ...(end && { to: end.toISOString() }) };
}

export function isProblem(period: Period | PeriodProblem): period is PeriodProblem {
  return 'reason' in period;
}
