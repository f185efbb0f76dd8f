import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const blob = ts.factory.createTypeReferenceNode('Blob');

/** The types of an OpenAPI document, as TypeScript; a binary body is a `Blob`. */
export async function typesOf(source) {
  const transform = ({ format }) => (format === 'binary' ? blob : undefined);
  return astToString(await openapiTS(source, { defaultNonNullable: false, transform }));
}

// Run as a program, it writes the types of the first file to the second one.
if (process.argv[1] === import.meta.filename) {
  const [document, types] = process.argv.slice(2);
  writeFileSync(types, await typesOf(readFileSync(document, 'utf8')));
}
