import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Fan } from '../browser/fan';
import { addresses, open } from '../browser/pages';
import { noteSession, signIn } from '../browser/profile';
import { loaded, total } from '../browser/sizes';
import { Stage } from '../browser/stage';
import type { RouteName } from '../../src/lib/router/paths';
import { AS_GUEST, JOURNEYS, leave, type Doing } from './journeys';
import { slowDown, startVitals, vitalsOf, type Vitals } from './vitals';

/** What docs/client.md demands of every page. */
const BUDGET: Vitals = { lcp: 1800, inp: 150, cls: 0.02 };
/** A slow mobile network: milliseconds for each request, and bytes a second. */
const NETWORK = { latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const PHONE = { width: 390, height: 844 };

interface Visit extends Vitals {
  /** Bytes of scripts after gzip. */
  js: number;
}

/** A page, and what is done on it. */
interface Planned {
  page: string;
  name: RouteName;
  address: string;
  acts: readonly Doing[];
  /** Of the fan who visits it; `null` is a guest. */
  cookie: string | null;
}

interface Row {
  page: string;
  visits: Visit[];
}

/** A browser that was never here, on a slow phone. */
async function visit(
  browser: Browser,
  origin: string,
  cookie: string | null,
  use: (page: Page) => Promise<Visit>,
): Promise<Visit> {
  // A service worker fetches every page ahead, and its network is not slowed down.
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-GB',
    viewport: PHONE,
    serviceWorkers: 'block',
    isMobile: true,
    hasTouch: true,
  });
  try {
    if (cookie !== null) {
      const [name = '', value = ''] = cookie.split('=');
      await context.addCookies([{ name, value, url: origin }]);
      await noteSession(context);
    }
    const page = await context.newPage();
    await startVitals(page);
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', { offline: false, ...NETWORK });
    await slowDown(session);
    return await use(page);
  } finally {
    await context.close();
  }
}

/** Opens a page, does on it what is done there, and leaves it. */
async function measured(page: Page, { name, address, acts }: Planned): Promise<Visit> {
  const { files, settled } = loaded(page);
  await open(page, name, address);
  await page.waitForFunction(() =>
    [...document.images].every(({ complete, loading }) => complete || loading === 'lazy'),
  );
  await settled();
  // An input ends the search for the largest part.
  const { lcp } = await vitalsOf(page);
  const js = total(files, '.js');
  for (const act of [...acts, leave]) {
    await act(page);
    await vitalsOf(page);
  }
  const { inp, cls } = await vitalsOf(page);
  return { lcp, inp, cls, js };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const of = (visits: readonly Visit[], what: keyof Visit): number => median(visits.map((one) => one[what]));

function verdict({ visits }: Row): string {
  const over = (['lcp', 'inp', 'cls'] as const).filter((what) => of(visits, what) > BUDGET[what]);
  return over.length === 0 ? 'met' : `**${over.map((what) => what.toUpperCase()).join(', ')} over**`;
}

/** The figures as a table. */
function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { page, visits } = row;
    const cells = [
      page,
      `${of(visits, 'lcp').toFixed(0)} ms`,
      `${of(visits, 'inp').toFixed(0)} ms`,
      of(visits, 'cls').toFixed(3),
      `${(of(visits, 'js') / 1000).toFixed(1)} kB`,
      verdict(row),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| Page | LCP | INP | CLS | Scripts | Budgets |', '|---|---|---|---|---|---|', ...lines].join('\n');
}

/** Where and how the figures are taken; other work on the machine makes them worse. */
function circumstances(browser: Browser, runs: number): string {
  const [first, ...others] = cpus();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB of memory`;
  const cores = `${String(others.length + 1)} cores of ${first?.model ?? 'an unknown processor'}`;
  const taken = new Date().toISOString().slice(0, 10);
  const [load = 0] = loadavg();
  const visits = `${String(runs)} ${runs === 1 ? 'visit' : 'visits'} of each page`;
  return [
    `Taken ${taken}, on ${cores} with ${memory}, ${platform()} ${release()}`,
    `Chromium ${browser.version()}`,
    `${visits}, with a load of ${load.toFixed(1)} on the machine before the first.`,
  ].join('; ');
}

/** Writes the figures into their section of a page. */
function writeInto(file: string, text: string): void {
  const [begin, end] = ['<!-- figures: client -->', '<!-- end: client -->'];
  const page = readFileSync(file, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} has no \`${begin}\` … \`${end}\``);
  writeFileSync(file, `${page.slice(0, from)}${begin}\n${text}\n${page.slice(to)}`);
}

async function measureAll({ service, browser }: Stage, runs: number): Promise<Row[]> {
  const fan = await Fan.signIn(service.url);
  const context = await browser.newContext({ baseURL: service.url, locale: 'en-GB' });
  const page = await context.newPage();
  await signIn(page);
  const all = await addresses(page, service);
  await context.close();
  const asFan = all.flatMap(([name, address]): Planned[] => {
    const acts = JOURNEYS[name];
    return acts === undefined ? [] : [{ page: name, name, address, acts, cookie: fan.cookie }];
  });
  const asGuest = {
    page: 'room, as a guest',
    name: 'room',
    address: '/room',
    acts: AS_GUEST,
    cookie: null,
  } as const;
  const plan: Planned[] = [asGuest, ...asFan];
  const rows: Row[] = plan.map((row) => ({ page: row.page, visits: [] }));
  for (let run = 0; run < runs; run += 1) {
    for (const [place, planned] of plan.entries()) {
      rows[place]?.visits.push(
        await visit(browser, service.url, planned.cookie, (shown) => measured(shown, planned)),
      );
    }
  }
  return rows;
}

test('pages in a browser that is slowed down', async () => {
  const runs = Number(process.env['TERRACE_RUNS'] ?? 1);
  const stage = await Stage.open(['--rate-limits', 'off']);
  try {
    const taken = circumstances(stage.browser, runs);
    const rows = await measureAll(stage, runs);
    expect(rows.every(({ visits }) => visits.length === runs)).toBe(true);
    const text = `${taken}\n\n${table(rows)}`;
    console.info(`\n${text}\n`);
    const file = process.env['TERRACE_FIGURES'];
    if (file !== undefined) writeInto(file, text);
  } finally {
    await stage.close();
  }
});
