/** Answers that were kept from earlier, and when they were read. */
const ages = new WeakMap<object, Date>();

/** Notes that an answer was kept, by the header that the service worker sets. */
export function noteAge(value: unknown, headers: Headers): void {
  const readAt = headers.get('terrace-read-at');
  if (readAt !== null && typeof value === 'object' && value !== null) ages.set(value, new Date(readAt));
}

/** When a kept answer was read; `null` if it came from the service now. */
export function ageOf(value: unknown): Date | null {
  return typeof value === 'object' && value !== null ? (ages.get(value) ?? null) : null;
}

/** Gives what was made of an answer the age of the answer. */
export function withAgeOf<Value extends object>(answer: object, value: Value): Value {
  const age = ages.get(answer);
  if (age) ages.set(value, age);
  return value;
}
