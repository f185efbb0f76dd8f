/** The types of an OpenAPI document, as TypeScript; a binary body is a `Blob`. */
export function typesOf(source: string): Promise<string>;
