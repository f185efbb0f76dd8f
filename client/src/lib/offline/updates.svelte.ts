import { createContext } from 'svelte';

/** How often a page that stays open looks for a new version. */
const LOOK_MS = 60 * 60_000;

/** New versions of the client: a service worker installs one, and the reader decides when it takes over. */
export class Updates {
  #waiting = $state.raw<ServiceWorker | null>(null);
  /** Whether another page let the new version take over. */
  #isReplaced = $state(false);
  #isWanted = false;

  /** Whether a new version can be shown. */
  get isReady(): boolean {
    return this.#waiting !== null || this.#isReplaced;
  }

  /** Shows the new version. */
  apply(): void {
    if (this.#waiting === null) {
      location.reload();
      return;
    }
    this.#isWanted = true;
    this.#waiting.postMessage('take-over');
  }

  /** Registers the service worker and looks for new versions. Returns what ends that. */
  start(workers: ServiceWorkerContainer): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    let isFirst = workers.controller === null;
    workers.addEventListener(
      'controllerchange',
      () => {
        if (this.#isWanted) location.reload();
        // The first worker takes over pages that are of its own version.
        else if (!isFirst) this.#isReplaced = true;
        isFirst = false;
      },
      { signal },
    );
    this.#register(workers, signal).catch((error: unknown) => {
      // Storage may be off, or the service gone: the client works without.
      console.info('no service worker', error);
    });
    return () => stop.abort();
  }

  async #register(workers: ServiceWorkerContainer, signal: AbortSignal): Promise<void> {
    const registration = await workers.register(trusted('/sw.js'));
    // The first worker does not claim a page that was being loaded while it took over.
    if (!workers.controller) registration.active?.postMessage('claim');
    this.#follow(registration);
    registration.addEventListener('updatefound', () => this.#follow(registration), { signal });
    const look = (): void => {
      // Without a connection there is nothing new.
      if (document.visibilityState === 'visible') registration.update().catch(() => undefined);
    };
    document.addEventListener('visibilitychange', look, { signal });
    const timer = setInterval(look, LOOK_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  #follow({ waiting, installing, active }: ServiceWorkerRegistration): void {
    if (waiting && active) this.#waiting = waiting;
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'installed' && active) this.#waiting = installing;
    });
  }
}

/** The page's policy forbids to register a worker by a plain string. */
function trusted(address: string): string {
  if (typeof trustedTypes === 'undefined') return address;
  const policy = trustedTypes.createPolicy('terrace-worker', { createScriptURL: (url) => url });
  return policy.createScriptURL(address);
}

/** Missing in some browsers. What its policies make is no string, and is taken where one is. */
declare const trustedTypes: TrustedTypes | undefined;

interface Rules {
  createScriptURL: (url: string) => string;
}

interface TrustedTypes {
  createPolicy: (name: string, rules: Rules) => Rules;
}

export const [useUpdates, setUpdates] = createContext<Updates>();
