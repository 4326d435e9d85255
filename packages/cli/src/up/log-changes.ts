import type { LogLine } from '@coracle/environment'
import type { Change } from './pod-changes.ts'

/** A change, and the object it happened to. */
export interface ChangeOf extends Change {
  /** `pod/web`, `pod/team/web` outside the default namespace, or the component that tells. */
  readonly about: string
}

/**
 * What a line of the log tells people: an action of a controller with its reason, or something that went wrong.
 * Undefined for what only matters to the components themselves.
 */
export function logChange({ level, message, fields }: LogLine): ChangeOf | undefined {
  const { because, kind, namespace, name, controller, error } = fields
  if (typeof because === 'string' && typeof kind === 'string' && typeof name === 'string') {
    const about = aboutText(kind, typeof namespace === 'string' ? namespace : undefined, name)
    const by = typeof controller === 'string' ? ` by ${controller}` : ''
    // Someone was faster: controllers look again and decide anew.
    if (level !== 'info' && String(error).startsWith('Operation cannot be fulfilled')) return undefined
    if (level !== 'info') return { about, what: `${message}${by}: ${error} (${because})`, tone: 'bad' }
    const verb = verbs[message]
    return verb === undefined || quietKinds.has(kind)
      ? undefined
      : { about, what: `${verb}${by}: ${because}`, tone: 'plain' }
  }
  if (level !== 'warn' && level !== 'error') return undefined
  const about = typeof controller === 'string' ? controller : 'cluster'
  return { about, what: [message, ...details(fields)].join(': '), tone: 'bad' }
}

/** Actions of controllers worth a line. Statuses they write are not: they follow from what is told already. */
const verbs: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  patch: 'changed',
  delete: 'deleted',
}

/** What every namespace gets, heartbeats, and what follows each pod that is told to be ready or gone. */
const quietKinds = new Set(['ServiceAccount', 'Lease', 'Endpoints', 'EndpointSlice'])

function details({ controller: _, ...fields }: LogLine['fields']): readonly string[] {
  return Object.entries(fields).map(([key, value]) => (key === 'error' ? String(value) : `${key} ${String(value)}`))
}

/** How lines name an object. */
export function aboutText(kind: string, namespace: string | undefined, name: string): string {
  const scope = namespace === undefined || namespace === '' || namespace === 'default' ? '' : `${namespace}/`
  return `${kind.toLowerCase()}/${scope}${name}`
}
