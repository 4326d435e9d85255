import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { apiVersionOf, type JsonObject } from '@coracle/api'
import { parseJsonPath, type Template } from '@coracle/api/jsonpath'
import {
  jsonSchemaOfKind,
  jsonSchemaOfKinds,
  mergeOpenApiDefinitions,
  type OpenApiDefinitions,
} from '@coracle/api/openapi'
import type { DiscoveredResource } from '@coracle/client'
import { CliError, PrintError, SummaryError } from '../cli-error.ts'
import { explainedKind, explainText } from '../explain/explain-text.ts'
import { explainV2Text } from '../explain/explain-v2-text.ts'
import { type OpenApiSchemas, schemaOfKind } from '../explain/openapi-schema.ts'
import type { Host } from '../host.ts'
import { pathInside } from '../output/path-inside.ts'
import type { ResourceCatalog } from '../resources/resource-catalog.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface ExplainFlags extends ConnectionFlags {
  readonly recursive?: boolean
  readonly apiVersion?: string
  readonly output: string
  readonly jsonSchema?: boolean
  readonly outputDir?: string
}

/** `coracle explain TYPE[.FIELD…]`, or `--json-schema [TYPE]` */
export async function explain(host: Host, args: readonly string[], flags: ExplainFlags): Promise<void> {
  if (args.length > 1) throw new CliError('We accept only this format: explain RESOURCE')
  if (flags.jsonSchema === true) return writeJsonSchemas(host, args[0], flags)
  if (flags.outputDir !== undefined) throw new CliError('--output-dir is for --json-schema')
  const [named] = args
  if (named === undefined) {
    throw new CliError(
      'You must specify the type of resource to explain. Use "coracle api-resources" for a complete list of supported resources.',
    )
  }
  await withSession(host, flags, async (session) => {
    const { resource, path } = findField(await session.catalog(), named, flags.apiVersion)
    const isOld = flags.output === 'plaintext-openapiv2'
    const schemas = isOld ? await readVersion2(session) : await readVersion3(session, apiVersionOf(resource))
    const schema = schemas === undefined ? undefined : schemaOfKind(schemas, resource)
    if (schemas === undefined || schema === undefined) throw notDocumented(resource, schemas !== undefined, isOld)
    if (!isOld && flags.output !== 'plaintext') throw new CliError(`unrecognized format: ${flags.output}`)
    const write = isOld ? explainV2Text : explainText
    const text = write({ kind: resource, schema, schemas, path, isRecursive: flags.recursive === true })
    if (text === undefined) {
      throw new PrintError(`field ${JSON.stringify(path.at(-1))} does not exist`, isOld ? '' : explainedKind(resource))
    }
    host.stdout.write(text)
  })
}

/** In kubectl's words: where there is no document of that version, and where there is one that lacks the type. */
function notDocumented(
  { group, version, kind, plural }: DiscoveredResource,
  isVersion: boolean,
  isOld: boolean,
): CliError {
  const what = `${group}/${version}, ${isOld ? `Kind=${kind}` : `Resource=${plural}`}`
  return new CliError(
    isVersion && !isOld
      ? `GVR (${what}) not found in OpenAPI schema`
      : `couldn't find resource for ${JSON.stringify(what)}`,
  )
}

interface Field {
  readonly resource: DiscoveredResource
  readonly path: readonly string[]
}

/** `pods.spec.containers` and `deployments.apps.spec`: the longest beginning that is a type, and fields after it. */
function findField(catalog: ResourceCatalog, text: string, apiVersion: string | undefined): Field {
  const parts = namesOf(text)
  const [type = ''] = parts
  const qualified = parts
    .map((_, index) => parts.slice(0, parts.length - index))
    .find((each) => each.length > 1 && isType(catalog, each))
  const resource = findType(catalog, qualified?.join('.') ?? type)
  const path = parts.slice(qualified?.length ?? 1)
  if (apiVersion === undefined) return { resource, path }
  const wanted = catalog.ofKind(apiVersion, resource.kind)
  if (wanted !== undefined) return { resource: wanted, path }
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  // Of a version that the server lacks it is the document that is missing.
  return { resource: { ...resource, group, version }, path }
}

/** The names of a JSONPath without its first dot: `a.b`, `a.b\.c` or `a['b.c']`. Throws a CliError for what is more than names. */
function namesOf(text: string): readonly string[] {
  const [action, ...more] = readPath(text.replace(/\.$/, ''))
  if (more.length > 0 || action?.type !== 'action') throw new CliError('must pass in 1 jsonpath string')
  return action.path.map((step) => {
    if (step.type === 'field') return step.name
    throw new CliError('invalid jsonpath syntax, first node must be field node')
  })
}

function readPath(text: string): Template {
  try {
    return parseJsonPath(`{.${text}}`)
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error))
  }
}

const isType = (catalog: ResourceCatalog, parts: readonly string[]): boolean => {
  try {
    return catalog.find(parts.join('.')) !== undefined
  } catch {
    return false
  }
}

/** The type of this name. Throws what kubectl says here without `error:` before it. */
function findType(catalog: ResourceCatalog, name: string): DiscoveredResource {
  try {
    return catalog.find(name)
  } catch (error) {
    throw error instanceof CliError ? new SummaryError(error.message) : error
  }
}

interface OpenApiDocument {
  readonly definitions?: OpenApiSchemas
  readonly components?: { readonly schemas?: OpenApiSchemas }
}

async function readVersion2({ client }: Session): Promise<OpenApiSchemas> {
  return (JSON.parse(await client.rawGet('/openapi/v2')) as OpenApiDocument).definitions ?? {}
}

interface OpenApiIndex {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL: string }>>
}

async function readVersion3(session: Session, apiVersion: string): Promise<OpenApiSchemas | undefined> {
  const { paths = {} } = await readIndex(session)
  const url = paths[apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`]?.serverRelativeURL
  return url === undefined ? undefined : readDocument(session, url)
}

const readIndex = async ({ client }: Session): Promise<OpenApiIndex> => JSON.parse(await client.rawGet('/openapi/v3'))

const readDocument = async ({ client }: Session, url: string): Promise<OpenApiSchemas> =>
  (JSON.parse(await client.rawGet(url)) as OpenApiDocument).components?.schemas ?? {}

/** Prints the JSON Schema of one kind or of all, or writes a file for each kind. */
async function writeJsonSchemas(host: Host, type: string | undefined, flags: ExplainFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    const catalog = await session.catalog()
    const wanted = type === undefined ? catalog.all() : [findField(catalog, type, flags.apiVersion).resource]
    const versions = [...new Set(wanted.map(apiVersionOf))]
    const documents = await Promise.all(versions.map((version) => readVersion3(session, version)))
    const definitions = mergeOpenApiDefinitions(documents.map((schemas) => (schemas ?? {}) as OpenApiDefinitions))
    const kinds = wanted.filter((resource) => schemaOfKind(definitions, resource) !== undefined)
    if (kinds.length === 0) throw new CliError(`the server has no schema of ${type ?? 'anything'}`)
    const [only] = kinds
    const all = () =>
      type !== undefined && only !== undefined
        ? jsonSchemaOfKind(definitions, only)
        : jsonSchemaOfKinds(definitions, kinds)
    if (flags.outputDir === undefined) {
      host.stdout.write(text(all()))
      return
    }
    const directory = resolve(host.workingDirectory, flags.outputDir)
    await mkdir(directory, { recursive: true })
    for (const [name, kind] of named(kinds)) {
      await writeFile(pathInside(directory, name), text(jsonSchemaOfKind(definitions, kind)))
    }
    if (type === undefined) await writeFile(join(directory, 'all.json'), text(all()))
    host.stdout.write(`${kinds.length} ${kinds.length === 1 ? 'kind' : 'kinds'} written to ${flags.outputDir}\n`)
  })
}

const text = (schema: JsonObject): string => `${JSON.stringify(schema, undefined, 2)}\n`

/** File names as kubeconform looks for them: `deployment-apps-v1.json`; with the whole group where that is taken. */
function named(kinds: readonly DiscoveredResource[]): ReadonlyMap<string, DiscoveredResource> {
  const files = new Map<string, DiscoveredResource>()
  for (const resource of kinds) {
    const { kind, group, version } = resource
    const nameWith = (part: string) =>
      `${[kind, part, version]
        .filter((each) => each !== '')
        .join('-')
        .toLowerCase()}.json`
    const short = nameWith(group.split('.', 1)[0] ?? '')
    files.set(files.has(short) ? nameWith(group) : short, resource)
  }
  return files
}
