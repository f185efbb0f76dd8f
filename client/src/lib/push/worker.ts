/** What the service worker does with messages of the service. Only the worker imports this. */

/** A message as it is shown. */
export interface Message {
  title: string;
  text: string;
  /** The page of the client to which it leads. */
  url: string;
  /** Messages of one group replace each other. */
  tag: string;
  /** How much is unread; null where the message does not say. */
  unread: number | null;
}

/** What is used of an open page. */
export interface Window {
  readonly url: string;
  readonly visibilityState: string;
  focus: () => Promise<unknown>;
  postMessage: (message: { open: string }) => void;
}

/** What is used of the open pages. */
export interface Windows {
  matchAll: (options: { type: 'window'; includeUncontrolled: boolean }) => Promise<readonly Window[]>;
  openWindow: (url: string) => Promise<unknown>;
}

const INBOX = '/notifications';
/** What is shown of a message that can't be read: a browser wants one for each. */
const NEWS = { en: 'There is something new.', de: 'Es gibt etwas Neues.' };

/** The message that the service sent. */
export function messageOf(text: string | undefined, origin: string, language: string): Message {
  const sent = fieldsOf(text);
  const field = (name: string): string => {
    const value = sent[name];
    return typeof value === 'string' ? value : '';
  };
  const news = language.startsWith('de') ? NEWS.de : NEWS.en;
  const { unread } = sent;
  return {
    title: field('title') === '' ? 'Terrace' : field('title'),
    text: field('title') === '' && field('text') === '' ? news : field('text'),
    url: pageOf(field('url'), origin),
    tag: field('tag') === '' ? 'terrace' : field('tag'),
    unread: typeof unread === 'number' ? unread : null,
  };
}

function fieldsOf(text: string | undefined): Record<string, unknown> {
  try {
    const sent: unknown = JSON.parse(text ?? '');
    return typeof sent === 'object' && sent !== null ? { ...sent } : {};
  } catch {
    // What is sent by another program than the service may be anything.
    return {};
  }
}

/** The address on this origin to which a message leads; the inbox for any other. */
function pageOf(url: string, origin: string): string {
  if (!url.startsWith('/')) return INBOX;
  const page = new URL(url, origin);
  return page.origin === origin ? page.pathname + page.search : INBOX;
}

/** Shows the page of a message that was pressed: in the tab that has it, else in one that is open, else in a new one. */
export async function openPage(windows: Windows, page: string, origin: string): Promise<void> {
  const open = await windows.matchAll({ type: 'window', includeUncontrolled: true });
  const has = ({ url }: Window): boolean => url === origin + page;
  const best = open.find(has) ?? open.find((it) => it.visibilityState === 'visible') ?? open[0];
  if (!best) {
    await windows.openWindow(page);
    return;
  }
  if (!has(best)) best.postMessage({ open: page });
  await best.focus();
}

/** What is used of the browser's push service. */
export interface Manager {
  subscribe: (options: { userVisibleOnly: true; applicationServerKey: string }) => Promise<Subscription>;
}

export interface Subscription {
  toJSON: () => { endpoint?: string; keys?: Record<string, string> };
}

/** Tells the service of a subscription that replaces another one. The page at the next visit mends what fails here. */
export async function subscribeAnew(
  manager: Manager,
  given: Subscription | null,
  send: (path: string, init?: RequestInit) => Promise<Response>,
): Promise<void> {
  const answer = await send('/api/push/key');
  if (!answer.ok) return;
  const { publicKey, keyId } = (await answer.json()) as { publicKey: string; keyId: string };
  const subscription =
    given ?? (await manager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }));
  const { endpoint, keys } = subscription.toJSON();
  await send('/api/push/subscription', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ endpoint, keys, keyId }),
  });
}
