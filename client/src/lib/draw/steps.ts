/** Something that was checked of a draw. */
export interface Step {
  text: string;
  holds: boolean;
  /** What was computed, as far as it is shown. */
  value: string | null;
}

/** Whether everything holds that was checked. */
export function holdsAll(steps: readonly Step[]): boolean {
  return steps.length > 0 && steps.every(({ holds }) => holds);
}
