import { apiVersionOf, compareText } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { type SerializedFormat, serialize } from '../output/serialize.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

export interface ApiResourcesFlags extends ConnectionFlags {
  readonly apiGroup?: string
  /** Absent: both. */
  readonly namespaced?: boolean
  readonly verbs: readonly string[]
  readonly categories: readonly string[]
  /** `name` or `kind`; by both unless given. */
  readonly sortBy?: string
  readonly output?: string
  /** False with `--no-headers`. */
  readonly headers: boolean
}

/** `coracle api-resources` */
export async function apiResources(host: Host, flags: ApiResourcesFlags): Promise<void> {
  const { sortBy } = flags
  const output = flags.output?.toLowerCase()
  if (output !== undefined && !formats.includes(output)) {
    throw new CliError(
      `unable to match a printer suitable for the output format ${JSON.stringify(flags.output)}, allowed formats are: ${formats.join(',')}`,
    )
  }
  if (sortBy !== undefined && sortBy !== '' && sortBy !== 'name' && sortBy !== 'kind') {
    throw new CliError('--sort-by accepts only name or kind')
  }
  await withSession(host, flags, async (session) => {
    const found = sorted(
      (await session.catalog()).preferred().filter((resource) => isWanted(resource, flags)),
      flags,
    )
    if (output === 'name') {
      for (const { plural, group } of found) host.stdout.write(`${group === '' ? plural : `${plural}.${group}`}\n`)
      return
    }
    if (output === 'json' || output === 'kyaml' || output === 'yaml') {
      host.stdout.write(await listText(found, output))
      return
    }
    const isWide = output === 'wide'
    const headers = [
      'NAME',
      'SHORTNAMES',
      'APIVERSION',
      'NAMESPACED',
      'KIND',
      ...(isWide ? ['VERBS', 'CATEGORIES'] : []),
    ]
    const rows = found.map((resource) => rowOf(resource, isWide))
    const lines = flags.headers ? [headers, ...rows] : rows
    host.stdout.write(alignTabs(lines.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment))
  })
}

const formats = ['json', 'kyaml', 'name', 'wide', 'yaml']

/** As one list. JSON has its members in the order of Go's types, as kubectl prints it here. */
async function listText(resources: readonly DiscoveredResource[], format: SerializedFormat): Promise<string> {
  const entries = resources.map(
    ({ plural, singular, namespaced, group, version, kind, verbs, shortNames, categories }) => ({
      name: plural,
      singularName: singular,
      namespaced,
      ...(group === '' ? {} : { group }),
      version,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    }),
  )
  const list = {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: '',
    // Go's list that nothing was put into.
    resources: entries.length === 0 ? null : entries,
  }
  return format === 'json' ? `${JSON.stringify(list, undefined, 4)}\n` : serialize(list, 'yaml')
}

function rowOf(resource: DiscoveredResource, isWide: boolean): readonly string[] {
  const { plural, shortNames, namespaced, kind, verbs, categories } = resource
  const cells = [plural, shortNames.join(','), apiVersionOf(resource), String(namespaced), kind]
  return isWide ? [...cells, verbs.join(','), categories.join(',')] : cells
}

function isWanted(
  resource: DiscoveredResource,
  { apiGroup, namespaced, verbs, categories }: ApiResourcesFlags,
): boolean {
  return (
    resource.verbs.length > 0 &&
    (apiGroup === undefined || resource.group === apiGroup) &&
    (namespaced === undefined || resource.namespaced === namespaced) &&
    verbs.every((verb) => resource.verbs.some((each) => each === verb)) &&
    categories.every((category) => resource.categories.includes(category))
  )
}

/** By group and then by name, or by name or kind alone. */
function sorted(
  resources: readonly DiscoveredResource[],
  { sortBy }: ApiResourcesFlags,
): readonly DiscoveredResource[] {
  return resources.toSorted((a, b) => {
    if (sortBy === 'kind') return compareText(a.kind, b.kind)
    return (sortBy === 'name' ? 0 : compareText(a.group, b.group)) || compareText(a.plural, b.plural)
  })
}
