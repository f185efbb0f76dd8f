import type { components } from './schema';

export type Problem = components['schemas']['Problem'];

/** The service answered and refused. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly problem: Problem;
  /** After how many seconds the service may be asked again, if it says so. */
  readonly retryAfter: number | null;

  constructor(problem: Problem, retryAfter: number | null = null) {
    super(`${String(problem.status)} ${problem.code}`);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  get code(): string {
    return this.problem.code;
  }
}

/** No answer arrived, or none that the service can have sent. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Why a request failed. Anything else that is thrown is a defect. */
export type Failure = Refused | Unreachable;

/** Returns the failure, and throws what is a defect. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refused || error instanceof Unreachable) return error;
  throw error;
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
