import type { SpinPay, SpinResult, Wheel } from '$lib/api/types';

/** How the next spin is paid; null where there is none now. */
export function nextPay({ me, price }: Pick<Wheel, 'me' | 'price'>, now: Date): SpinPay | null {
  const isFree = me !== null && (me.freeSpin || isThere(me.nextFreeSpinAt, now));
  if (isFree) return 'free';
  return price === null ? null : 'price';
}

function isThere(time: string | null, now: Date): boolean {
  return time !== null && new Date(time) <= now;
}

/** The wheel after a spin, as far as its answer says. */
export function afterSpin(wheel: Wheel, { spin, next, nextFreeSpinAt }: SpinResult): Wheel {
  const isLucky = wheel.pity?.segments.includes(spin.segment) ?? true;
  return {
    ...wheel,
    me: {
      ...next,
      freeSpin: wheel.freeSpins === 'daily' && nextFreeSpinAt === null,
      nextFreeSpinAt,
      pityCount: isLucky ? 0 : (wheel.me?.pityCount ?? 0) + 1,
    },
  };
}

/** Within how many spins the fan gets a segment of the guarantee; null where there is none. */
export function guaranteedWithin({ pity, me }: Pick<Wheel, 'pity' | 'me'>): number | null {
  return pity === null || me === null ? null : Math.max(0, pity.after - me.pityCount) + 1;
}
