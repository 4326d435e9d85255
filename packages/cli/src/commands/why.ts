import {
  type CauseLink,
  type Event,
  events,
  hasReason,
  type KubernetesObject,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
} from '@coracle/api'
import { type DiscoveredResource, readCauses, readChain } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { serialize } from '../output/serialize.ts'
import { selectObjects } from '../resources/select-objects.ts'
import { selectorText } from '../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import type { Facts } from '../why/facts.ts'
import { explainStuck } from '../why/stuck.ts'
import { type Why, whyText } from '../why/why-text.ts'

export interface WhyFlags extends ConnectionFlags {
  readonly output?: string
  readonly limit: number
}

/** Most causes shown, however many led to one another. */
const linksShownMax = 200

/** `coracle why TYPE/NAME`: what holds an object up, and which changes, by whom, led to how it is. */
export async function why(host: Host, args: readonly string[], flags: WhyFlags): Promise<void> {
  const { output } = flags
  if (output !== undefined && output !== 'json' && output !== 'yaml') {
    throw new CliError(`unknown output format ${JSON.stringify(output)}: use json or yaml, or leave -o out`)
  }
  await withSession(host, flags, async (session) => {
    const selections = selectObjects(args, 'why', await session.catalog(), {})
    let isFirst = true
    for (const { resource, name } of selections) {
      if (name === undefined) throw new CliError(`name one: coracle why ${resource.singular}/NAME`)
      const told = await tell(host, session, resource, name, flags.limit)
      const text = output === undefined ? whyText(told, host.environment.clock.now()) : await serialize(told, output)
      host.stdout.write(isFirst || output !== undefined ? text : `\n${text}`)
      isFirst = false
    }
  })
}

async function tell(
  host: Host,
  session: Session,
  resource: DiscoveredResource,
  name: string,
  limit: number,
): Promise<Why> {
  const object = await find(session, resource, name)
  const causes = await chainsOf(session, resource, name, object, limit)
  // What is gone is still in the record; what never was is not.
  if (object === undefined && (causes === undefined || causes.length === 0)) {
    throw new CliError(`${resource.plural} "${name}" not found, and the record has nothing of it`)
  }
  const stuck = object === undefined ? [] : explainStuck(await factsOf(session, object, host.environment.clock.now()))
  return { object: `${resource.singular}/${name}`, isGone: object === undefined, stuck, causes }
}

async function find({ client, namespace }: Session, resource: Resource, name: string) {
  try {
    return await client.get(resource, resource.namespaced ? { namespace, name } : { name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** The latest causes of an object, and all that led to them. */
async function chainsOf(
  { client, namespace }: Session,
  { group, plural, namespaced }: Resource,
  name: string,
  object: KubernetesObject | undefined,
  limit: number,
): Promise<readonly CauseLink[] | undefined> {
  const uid = object?.metadata.uid
  const selection = {
    group,
    resource: plural,
    name,
    ...(namespaced ? { namespace } : {}),
    ...(uid === undefined ? {} : { uid }),
  }
  const own = await readCauses(client, selection, limit)
  if (own === undefined) return undefined
  const links = new Map<number, CauseLink>()
  for (const { revision } of own) {
    if (links.has(revision) || links.size >= linksShownMax) continue
    for (const link of await readChain(client, revision)) links.set(link.cause.revision, link)
  }
  return [...links.values()].sort((a, b) => b.cause.revision - a.cause.revision).slice(0, linksShownMax)
}

/** What can be seen of an object's surroundings: what may not be read is left out. */
async function factsOf({ client }: Session, object: KubernetesObject, nowMs: number): Promise<Facts> {
  const { namespace, name = '', uid } = object.metadata
  const items = async <T extends KubernetesObject>(resource: Resource<T>, options: object): Promise<readonly T[]> => {
    try {
      return (await client.list(resource, options)).items
    } catch (error) {
      if (hasReason(error, 'Forbidden') || hasReason(error, 'NotFound')) return []
      throw error
    }
  }
  const scope = namespace === undefined ? {} : { namespace }
  const labelSelector = namespace === undefined ? undefined : selectorText(object)
  const claimNames = claimsOf(object)
  const fieldSelector = `involvedObject.kind=${object.kind},involvedObject.name=${name}${uid ? `,involvedObject.uid=${uid}` : ''}`
  const [found, told, claims] = await Promise.all([
    labelSelector === undefined ? [] : items<Pod>(pods, { ...scope, labelSelector }),
    items<Event>(events, { ...scope, fieldSelector }),
    claimNames.size === 0 ? [] : items<PersistentVolumeClaim>(persistentVolumeClaims, scope),
  ])
  const lastOf = ({ lastTimestamp, eventTime }: Event) => lastTimestamp ?? eventTime ?? ''
  return {
    object,
    pods: found,
    claims: claims.filter((claim) => claimNames.has(claim.metadata.name ?? '')),
    events: told.toSorted((a, b) => (lastOf(a) < lastOf(b) ? -1 : 1)),
    nowMs,
  }
}

function claimsOf(object: KubernetesObject): ReadonlySet<string> {
  if (object.kind !== 'Pod') return new Set()
  const { volumes = [] } = (object as Pod).spec
  return new Set(volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []))
}
