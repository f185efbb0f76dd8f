/** What was just earned. */
export interface Moment {
  title: string;
  /** The number that owns the moment, with its sign. */
  amount: string;
  unit: string;
  lines: readonly string[];
}
