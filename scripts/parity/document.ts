import { builtinResources, unstoredResources } from '@coracle/api'
import { builtinControllers } from '@coracle/controllers'
import { virtualEnvironment } from '@coracle/environment'
import { readOpenApiFacts } from '../../packages/api/test/data/extract-openapi-facts.ts'
import { builtInAdmission } from '../../packages/apiserver/src/admission/built-in.ts'
import { admissionWebhooks } from '../../packages/apiserver/src/admission/webhooks/admission-webhooks.ts'
import type { Registries } from '../../packages/apiserver/src/registries.ts'
import { WorkTurns } from '../../packages/apiserver/src/work-turns.ts'
import { controllerEvents } from './events.ts'
import { featureGates } from './feature-gates.ts'
import { admissionPlugins, controllers, kindNotes, type Part } from './upstream.ts'

/** Plural and subresources of a kind in one generally available version, as the paths of an API tell. */
interface Served {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly subresources: ReadonlySet<string>
}

/** `docs/parity.md`: what there is of upstream, from the code and from the facts about upstream's API. */
export function parityDocument(): string {
  const kinds = kindRows()
  const controllerRows = partRows(controllers, new Set(builtinControllers.map(({ name }) => name)))
  const admissionRows = partRows(admissionPlugins, new Set(admissionNames()))
  const gateRows = featureGates.map(({ name, since, where, note }) => {
    const state = [where === undefined ? 'not there' : 'there', ...(note === undefined ? [] : [note])].join('. ')
    return { isHere: where !== undefined, cells: [name, since, where === undefined ? '' : linkTo(where), state] }
  })
  const eventRows = controllerEvents.map(({ controller, type, reason, message, where, note }) => {
    const state = [where === undefined ? 'not there' : 'there', ...(note === undefined ? [] : [note])].join('. ')
    const link = where === undefined ? '' : linkTo(where, where.replace(/^packages\/controllers\/src\/(.+)\.ts$/, '$1'))
    return { isHere: where !== undefined, cells: [controller, type, reason, message, link, state] }
  })
  const here = (rows: readonly Row[]) => `${rows.filter(({ isHere }) => isHere).length} of ${rows.length}`
  return [
    '# Parity with upstream',
    '',
    'Written by `npm run parity` from the code and from what is known of Kubernetes 1.36; a test keeps it true. Only what is',
    'generally available upstream is listed. The fields, defaults and verbs of every kind that is there are compared with',
    'upstream’s one by one by `packages/api/test/parity.test.ts`.',
    '',
    `## Kinds and subresources: ${here(kinds)}`,
    '',
    ...table(['Kind', 'Version', 'Subresources', 'State'], kinds),
    '',
    `## Controllers: ${here(controllerRows)}`,
    '',
    ...table(['Upstream', 'Here', 'State'], controllerRows),
    '',
    `## Admission plugins: ${here(admissionRows)}`,
    '',
    ...table(['Upstream', 'Here', 'State'], admissionRows),
    '',
    `## Events of controllers: ${here(eventRows)}`,
    '',
    'With upstream’s reasons, types and words; `…` stands for what is filled in.',
    '',
    ...table(['Controller', 'Type', 'Reason', 'Message', 'Where', 'State'], eventRows),
    '',
    `## What feature gates bring that are generally available: ${here(gateRows)}`,
    '',
    'There are no gates here: what is there is on.',
    '',
    ...table(['Gate', 'Since', 'Where', 'State'], gateRows),
    '',
  ].join('\n')
}

/** A link to a file from `docs/`; the packages are told by it. */
const linkTo = (where: string, text = where.replace(/^packages\/([^/]+)\/.*$/, '$1')): string =>
  `[${text}](../${where})`

interface Row {
  readonly isHere: boolean
  readonly cells: readonly string[]
}

function kindRows(): readonly Row[] {
  const ours = new Map(
    [...builtinResources, ...unstoredResources].map((each) => [
      nameOf(each),
      new Set([
        ...Object.keys(each.subresources),
        ...(each.hasStatus ? ['status'] : []),
        ...(each.scale ? ['scale'] : []),
      ]),
    ]),
  )
  return upstreamKinds().map((kind) => {
    const present = ours.get(nameOf(kind))
    const missing = [...kind.subresources].filter((name) => present?.has(name) !== true)
    const note = kindNotes[nameOf(kind)] ?? kindNotes[kind.plural]
    const lacks = missing.length === 0 ? 'there' : `there, without ${missing.sort().join(', ')}`
    const state = [present === undefined ? 'not there' : lacks, ...(note === undefined ? [] : [note])].join('. ')
    const subresources = [...(present ?? [])].filter((name) => kind.subresources.has(name)).sort()
    return { isHere: present !== undefined, cells: [kind.plural, versionText(kind), subresources.join(', '), state] }
  })
}

function partRows(parts: readonly Part[], ours: ReadonlySet<string>): readonly Row[] {
  return parts.map(({ upstream, ours: name, note }) => {
    const isHere = name !== undefined && ours.has(name)
    const state = [isHere ? 'there' : 'not there', ...(note === undefined ? [] : [note])].join('. ')
    return { isHere, cells: [upstream, isHere ? name : '', state] }
  })
}

function admissionNames(): readonly string[] {
  // The plugins keep these and use them when something is written, which nothing here does.
  const unused = {} as Registries
  const authorizer = { refuse: () => undefined }
  const environment = virtualEnvironment()
  const turns = new WorkTurns(environment.clock)
  const webhooks = admissionWebhooks(unused, environment, authorizer, turns)
  return builtInAdmission(unused, authorizer, webhooks, environment.clock, turns).map(({ name }) => name)
}

/** Every kind with a path of its own in a version like v1 or v2. */
function upstreamKinds(): readonly Served[] {
  const found = new Map<string, Served & { readonly subresources: Set<string> }>()
  for (const path of Object.keys(readOpenApiFacts().paths)) {
    const match =
      /^\/(?:api|apis\/([^/]+))\/(v\d+)\/(?:namespaces\/\{namespace\}\/)?([a-z]+)(?:\/\{name\}(?:\/([a-z]+))?)?$/.exec(
        path,
      )
    const [, group = '', version = '', plural = '', subresource] = match ?? []
    if (match === null) continue
    const kind = { group, version, plural, subresources: new Set<string>() }
    const known = found.get(nameOf(kind)) ?? kind
    found.set(nameOf(kind), known)
    if (subresource !== undefined) known.subresources.add(subresource)
  }
  return [...found.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

const nameOf = ({ group, version, plural }: Pick<Served, 'group' | 'version' | 'plural'>): string =>
  `${versionText({ group, version })}/${plural}`

const versionText = ({ group, version }: Pick<Served, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`

function table(header: readonly string[], rows: readonly Row[]): readonly string[] {
  const lines = [header, header.map(() => '---'), ...rows.map(({ cells }) => cells)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |'))
}
