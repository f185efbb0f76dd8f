/** What another app shared, as the text of a post: apps put an address into the text, beside it, or both. */
export function sharedText(query: URLSearchParams): string {
  const valueOf = (name: string): string => query.get(name)?.trim() ?? '';
  const [title, text, url] = [valueOf('title'), valueOf('text'), valueOf('url')];
  const words = text === '' ? title : text;
  return [words, words.includes(url) ? '' : url].filter((part) => part !== '').join('\n');
}

/** A draft with what was shared below what was written before. A share that arrives twice is there once. */
export function withShared(draft: string, shared: string): string {
  if (shared === '' || draft.endsWith(shared)) return draft;
  return draft.trim() === '' ? shared : `${draft.trimEnd()}\n\n${shared}`;
}
