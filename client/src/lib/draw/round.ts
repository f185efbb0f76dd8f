import type { RoundProof } from '../api/types';
import { sha256 } from './source';

/** A round of trivia whose commitment was computed again, and whether each part of the service's proof holds. */
export interface RecomputedRound {
  commitment: string;
  isCommitmentTrue: boolean;
  areRightsOptions: boolean;
  areTextsLines: boolean;
  areIdsDistinct: boolean;
}

/** Computes the commitment of a round again from its proof (docs/fair-draws.md); `promised` is the one that the round names. */
export async function recomputeRound(
  proof: RoundProof,
  promised: string,
  subtle: SubtleCrypto,
): Promise<RecomputedRound> {
  const { questions } = proof;
  const commitment = await sha256(roundText(proof), subtle);
  const ids = questions.flatMap(({ id, options }) => [id, ...options.map((option) => option.id)]);
  const texts = questions.flatMap(({ text, imageUrl, options }) => [
    text,
    imageUrl ?? '',
    ...options.map((option) => option.text),
  ]);
  return {
    commitment,
    isCommitmentTrue: commitment === proof.commitment && commitment === promised,
    areRightsOptions: questions.every(({ options, correctOptionId }) =>
      options.some(({ id }) => id === correctOptionId),
    ),
    // A text of two lines could be read as other questions.
    areTextsLines: !texts.some((text) => text.includes('\n')),
    areIdsDistinct: new Set(ids).size === ids.length,
  };
}

/** The questions as the text whose SHA-256 is the commitment. */
function roundText({ salt, questions }: RoundProof): string {
  const lines = questions.flatMap(({ id, text, imageUrl, options, correctOptionId }) => [
    `question ${id}`,
    `text ${text}`,
    ...(imageUrl === null ? [] : [`image ${imageUrl}`]),
    ...options.map((option) => `option ${option.id} ${option.text}`),
    `right ${correctOptionId}`,
  ]);
  return ['trivia-v1', `salt ${salt}`, ...lines, ''].join('\n');
}
