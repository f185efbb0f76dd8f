import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { typesOf } from '../build/types.js';

/** A part of a schema of the document, as far as this test reads it. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  discriminator?: { propertyName: string };
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  format?: string;
}
interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Schema;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: Schema }>; required?: boolean };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
  'x-events'?: Record<string, Schema>;
}
interface Contract {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const source = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8');
const contract = JSON.parse(source) as Contract;

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  if (name === undefined) return schema;
  const found = contract.components.schemas[name];
  if (!found) throw new Error(`no schema ${name}`);
  return resolved(found);
}

/** An expression of a value that the schema allows. */
function value(schema: Schema): string {
  const { enum: values, oneOf, anyOf, type, properties, required = [], items } = resolved(schema);
  if (values) return JSON.stringify(values[0]);
  const choices = oneOf ?? anyOf;
  if (choices) return value(choices.find((each) => each.type !== 'null') ?? {});
  const members = Object.entries(properties ?? {}).filter(([name]) => required.includes(name));
  const examples: Partial<Record<string, string>> = {
    string: '"text"',
    integer: '1',
    number: '1',
    boolean: 'true',
    array: items && `[${value(items)}]`,
  };
  const object = members.map(([name, member]) => `${JSON.stringify(name)}: ${value(member)}`);
  return examples[[type].flat()[0] ?? 'object'] ?? `{ ${object.join(', ')} }`;
}

/** The type that a reader of the schema expects; `null` where the schema has no plain type. */
function plainType(schema: Schema): string | null {
  const { type, enum: values } = resolved(schema);
  if (values || type === undefined) return null;
  const names = [type].flat().map((name) => (name === 'integer' ? 'number' : name));
  return names.some((name) => name === 'array' || name === 'object') ? null : names.join(' | ');
}

/** Statements that read every field of each variant of a tagged union. */
function readsOfVariants(variants: Schema[], tag: string, expression: string, depth: number): string[] {
  const name = `variant${String(depth)}`;
  const branches = variants.flatMap((variant) => {
    const [kind] = resolved(resolved(variant).properties?.[tag] ?? {}).enum ?? [];
    return [
      `if (${name}[${JSON.stringify(tag)}] === ${JSON.stringify(kind)}) {`,
      ...reads(variant, name, depth + 1),
      'return; }',
    ];
  });
  // The compiler knows that no variant is left.
  return [
    `((${name}: typeof ${expression}): void => {`,
    ...branches,
    `isOfType<never>(${name});`,
    `})(${expression});`,
  ];
}

/** Statements that read every field which is always sent. */
function reads(schema: Schema, expression: string, depth = 0): string[] {
  const { properties = {}, required = [], items, oneOf, anyOf, discriminator, type } = resolved(schema);
  if (depth > 6) return [];
  if (anyOf) return [`isOfType<string>(${expression});`];
  if (oneOf && discriminator) return readsOfVariants(oneOf, discriminator.propertyName, expression, depth);
  if (oneOf) {
    const [only, ...others] = oneOf.filter((each) => each.type !== 'null');
    if (!only || others.length > 0 || oneOf.length === 1) return [`void ${expression};`];
    const name = `present${String(depth)}`;
    return [
      `{ const ${name} = ${expression};`,
      `if (${name} !== null) {`,
      ...reads(only, name, depth + 1),
      '} }',
    ];
  }
  if (items && type === 'array') {
    const name = `each${String(depth)}`;
    return [`for (const ${name} of ${expression}) {`, `void ${name};`, ...reads(items, name, depth + 1), '}'];
  }
  return required.flatMap((name) => {
    const member = properties[name] ?? {};
    const field = `${expression}[${JSON.stringify(name)}]`;
    const plain = plainType(member);
    return plain === null ? reads(member, field, depth + 1) : [`isOfType<${plain}>(${field});`];
  });
}

function parameters(operation: Operation): string {
  const groups = (['path', 'query', 'header'] as const).flatMap((place) => {
    const members = (operation.parameters ?? []).filter((each) => each.in === place && each.required);
    const pairs = members.map(({ name, schema }) => `${JSON.stringify(name)}: ${value(schema)}`);
    return pairs.length > 0 ? [`${place}: { ${pairs.join(', ')} }`] : [];
  });
  return groups.length > 0 ? `params: { ${groups.join(', ')} },` : '';
}

/** A function that sends the operation and reads its answer. */
function use(path: string, method: string, operation: Operation): string {
  const types = Object.keys(operation.requestBody?.content ?? {});
  const sent = operation.requestBody?.content['application/json']?.schema;
  const body = sent ? `body: ${value(sent)},` : types.length > 0 ? 'body: new Blob([]),' : '';
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const answered = success?.[1].content?.['application/json']?.schema;
  return [
    `export async function ${operation.operationId}(): Promise<void> {`,
    `const { data, error } = await client.${method.toUpperCase()}(${JSON.stringify(path)}, {`,
    `${parameters(operation)} ${body} });`,
    'if (error !== undefined) { isOfType<string>(error.code); return; }',
    ...(answered ? reads(answered, 'data') : ['void data;']),
    '}',
  ].join('\n');
}

function follow(operation: Operation): string {
  const events = Object.entries(operation['x-events'] ?? {}).map(([event, schema]) => {
    const name = schema.$ref?.split('/').at(-1) ?? '';
    const type = `components['schemas']['${name}']`;
    return `${JSON.stringify(event)}: (data: ${type}) => { void data;\n${reads(schema, 'data').join('\n')} },`;
  });
  return `export const eventsOf_${operation.operationId} = { ${events.join('\n')} };`;
}

/** What the compiler says of the text beside the generated types. */
async function complaints(text: string): Promise<string[]> {
  const types = await typesOf(source);
  const folder = fileURLToPath(new URL('./', import.meta.url));
  const files = new Map([
    [`${folder}schema.ts`, types],
    [`${folder}use.ts`, text],
  ]);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    skipLibCheck: true,
  };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => files.has(name) || disk.fileExists(name),
    readFile: (name) => files.get(name) ?? disk.readFile(name),
    getSourceFile: (name, version) => {
      const held = files.get(name);
      return held === undefined
        ? disk.getSourceFile(name, version)
        : ts.createSourceFile(name, held, version);
    },
  };
  const program = ts.createProgram([`${folder}use.ts`], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    return `${file?.text.split('\n')[line] ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}

const head = `
  import createClient from 'openapi-fetch';
  import type { components, paths } from './schema';
  const client = createClient<paths, \`application/\${string}\`>();
  function isOfType<T>(value: T): void { void value; }
`;
const methods = ['get', 'put', 'post', 'patch', 'delete'];
const operations = Object.entries(contract.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => methods.includes(method))
    .map(([method, operation]) => ({ path, method, operation })),
);

test('a program that uses every operation and every event needs no cast', { timeout: 240_000 }, async () => {
  expect(operations.length).toBeGreaterThan(90);
  const calls = operations.map(({ path, method, operation }) => use(path, method, operation));
  const streams = operations.filter(({ operation }) => operation['x-events']);
  expect(streams).toHaveLength(5);
  const text = [head, ...calls, ...streams.map(({ operation }) => follow(operation))].join('\n');
  expect(await complaints(text)).toEqual([]);
  // A field that does not exist, and a nullable one that is taken for text, are noticed.
  const wrong = `${head}
    export const post = (data: components['schemas']['Post']) => { isOfType<string>(data.missing); };
    export const edited = (data: components['schemas']['Post']) => { isOfType<string>(data.editedAt); };
  `;
  expect(await complaints(wrong)).toHaveLength(2);
});

/** A program in which each line that follows a directive must be refused, and every other line accepted. */
const exact = `
  type Schemas = components['schemas'];
  export const one: Schemas['FollowBody'][] = [{ userId: 'a' }, { teamId: 'b' }];
  // @ts-expect-error one of the two is needed
  export const none: Schemas['FollowBody'] = {};
  // @ts-expect-error both are too many
  export const both: Schemas['FollowBody'] = { userId: 'a', teamId: 'b' };
  // @ts-expect-error one of the two is needed
  export const noBoard: Schemas['JoinBody'] = {};
  // @ts-expect-error both are too many
  export const twoBoards: Schemas['JoinBody'] = { leaderboardId: 'a', teamId: 'b' };

  export const clap: Schemas['ReactBody'] = { kind: 'clap' };
  // @ts-expect-error no kind of reaction
  export const boo: Schemas['ReactBody'] = { kind: 'boo' };
  export const counts = ({ reactions }: Schemas['Post']) => isOfType<number | undefined>(reactions.fire);
  // @ts-expect-error no kind of reaction
  export const boos = ({ reactions }: Schemas['Post']) => reactions.boo;
  // @ts-expect-error no cadence
  export const isWeekly = (quest: Schemas['Quest']) => quest.cadence === 'weekly';
  // @ts-expect-error no kind of session
  export const isTelex = (session: Schemas['Session']) => session.kind === 'telex';
  // @ts-expect-error no source of a seed
  export const isGuessed = (proof: Schemas['Proof']) => proof.clientSeedSource === 'guess';
  // @ts-expect-error no role
  export const isOwner = (account: Schemas['AccountExport']) => account.role === 'owner';

  export const count = (check: Schemas['StepCheck']) => (check.kind === 'follow_user' ? check.count : 0);
  // @ts-expect-error this kind has no count
  export const noCount = (check: Schemas['StepCheck']) => (check.kind === 'join_leaderboard' ? check.count : 0);
  // @ts-expect-error the count is missing
  export const incomplete: Schemas['StepCheck'] = { kind: 'follow_user' };

  export const code: Schemas['ProblemCode'] = 'rate_limited';
  // @ts-expect-error no code of a problem
  export const noCode: Schemas['ProblemCode'] = 'out_of_paper';
  export const laterCode = (problem: Schemas['Problem']) => problem.code === 'out_of_paper';
  export const source: Schemas['PointsSource'] = 'daily_visit';
  // @ts-expect-error no source of points
  export const noSource: Schemas['PointsSource'] = 'found_on_street';
  export const reason: Schemas['ReasonKind'] = 'follows_you';
  // @ts-expect-error no reason
  export const noReason: Schemas['ReasonKind'] = 'a_whim';

  type Purchased = paths['/api/packs/{id}/purchase']['post']['responses'];
  export const location = ({ headers }: Purchased[201]) => isOfType<string>(headers.Location);
  export const replayed = ({ headers }: Purchased[201]) => isOfType<'true' | undefined>(headers['Idempotency-Replayed']);
  // @ts-expect-error it is sent only with a stored answer
  export const stored = ({ headers }: Purchased[201]) => isOfType<'true'>(headers['Idempotency-Replayed']);
  export const wait = ({ headers }: Purchased[429 | 503]) => isOfType<number>(headers['Retry-After']);
  type Club = paths['/api/club']['get']['responses'];
  export const tag = ({ headers }: Club[200 | 304]) => isOfType<string>(headers.ETag);
  // @ts-expect-error the tag is a text
  export const noTag = ({ headers }: Club[200 | 304]) => isOfType<number>(headers.ETag);
  export const upload = client.POST('/api/media', { body: new Blob([]) });
  // @ts-expect-error a picture is no text
  export const uploadText = client.POST('/api/media', { body: 'text' });
`;

test('the types accept what the service does, and nothing else', { timeout: 240_000 }, async () => {
  expect(await complaints(head + exact)).toEqual([]);
  // Each directive has a fault to expect: without them there is one complaint each.
  const directives = exact.match(/\/\/ @ts-expect-error/g) ?? [];
  expect(await complaints(head + exact.replaceAll('@ts-expect-error', ''))).toHaveLength(directives.length);
});
