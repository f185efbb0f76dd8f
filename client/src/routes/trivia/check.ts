import type { Round, RoundProof } from '$lib/api/types';
import { recomputeRound, type RecomputedRound } from '$lib/draw/round';
import type { Step } from '$lib/draw/steps';
import type { Texts } from '$lib/i18n/texts.svelte';

/** Computes the commitment of a round again; `seen` is the one that this browser saw before the end. */
export async function checkRound(
  proof: RoundProof,
  { commitment }: Pick<Round, 'commitment'>,
  seen: string | null,
  texts: Texts,
): Promise<Step[]> {
  return stepsOf(proof, await recomputeRound(proof, commitment, crypto.subtle), seen, texts);
}

/** What was checked of a round, and whether it holds; `seen` is the commitment that this browser saw before the end. */
export function stepsOf(
  { commitment }: Pick<RoundProof, 'commitment'>,
  checked: RecomputedRound,
  seen: string | null,
  texts: Texts,
): Step[] {
  const t = texts.trivia.proof;
  return [
    { text: t.commitment, holds: checked.isCommitmentTrue, value: checked.commitment },
    ...(seen === null ? [] : [{ text: t.promised, holds: seen === commitment, value: null }]),
    { text: t.rights, holds: checked.areRightsOptions, value: null },
    { text: t.lines, holds: checked.areTextsLines, value: null },
    { text: t.ids, holds: checked.areIdsDistinct, value: null },
  ];
}
