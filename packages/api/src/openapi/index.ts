/** Descriptions of kinds for clients that do not know them. Loaded when somebody asks. */
export type { GroupVersionKind, KindSchema } from './definitions.ts'
export { documentSources, type OpenApiOptions } from './document.ts'
export {
  jsonSchemaOfKind,
  jsonSchemaOfKinds,
  mergeOpenApiDefinitions,
  type OpenApiDefinitions,
} from './json-schema.ts'
export { tokenIssuerPaths, versionPath } from './server-paths.ts'
export { openApiV2 } from './v2.ts'
export { openApiV3, openApiV3OfGroups } from './v3.ts'
