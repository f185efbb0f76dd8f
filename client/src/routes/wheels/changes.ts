import type { OwnEvent } from '$lib/live/own';

/** Whether what happened changes a wheel or the fan's spins. */
export function changesSpins({ name }: OwnEvent): boolean {
  return name === 'spin.completed' || name === 'resync';
}
