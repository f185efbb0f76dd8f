import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** A part of a schema of the document, as far as this test reads it. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  oneOf?: Schema[];
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

const blob = ts.factory.createTypeReferenceNode('Blob');
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
  const { enum: values, oneOf, type, properties, required = [], items } = resolved(schema);
  if (values) return JSON.stringify(values[0]);
  if (oneOf) return value(oneOf.find((each) => each.type !== 'null') ?? {});
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

/** Statements that read every field which is always sent. */
function reads(schema: Schema, expression: string, depth = 0): string[] {
  const { properties = {}, required = [], items, oneOf, type } = resolved(schema);
  if (depth > 6) return [];
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
  const types = astToString(
    await openapiTS(source, {
      defaultNonNullable: false,
      transform: ({ format }) => (format === 'binary' ? blob : undefined),
    }),
  );
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
  const client = createClient<paths>();
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
  expect(streams).toHaveLength(4);
  const text = [head, ...calls, ...streams.map(({ operation }) => follow(operation))].join('\n');
  expect(await complaints(text)).toEqual([]);
  // A field that does not exist, and a nullable one that is taken for text, are noticed.
  const wrong = `${head}
    export const post = (data: components['schemas']['Post']) => { isOfType<string>(data.missing); };
    export const edited = (data: components['schemas']['Post']) => { isOfType<string>(data.editedAt); };
  `;
  expect(await complaints(wrong)).toHaveLength(2);
});
