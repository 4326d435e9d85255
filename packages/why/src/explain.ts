import {
  apiVersionOf,
  type Cause,
  type CauseLink,
  type Event,
  events,
  hasReason,
  type KubernetesObject,
  notFound,
  type Resource,
} from '@coracle/api'
import { type CauseSource, type Client, readCauses, readChain } from '@coracle/client'
import { type Clock, sleep } from '@coracle/environment'
import { changeOf } from './change.ts'
import { type Examined, type Explanation, findingsOf, verdictOf } from './explanation.ts'
import { type Finding, type ObjectReference, referenceTo } from './finding.ts'
import { goneFindings, neverThere } from './gone.ts'
import { rulesOf } from './kinds/index.ts'
import { Surroundings } from './surroundings.ts'

/** Where all is read that an explanation is made of: any server, by a client, and its causal record, if it keeps one. */
export interface WhySource {
  readonly client: Pick<Client, 'get' | 'list'>
  readonly causes: CauseSource
  readonly clock: Clock
}

/** The object that is asked about. */
export interface Subject {
  readonly resource: Resource
  readonly namespace?: string
  readonly name: string
}

export interface ExplainOptions {
  /** How many of the object's latest changes are followed back; 20 unless it is said. */
  readonly changes?: number
}

const changesDefault = 20

/** The object's latest causes that are looked at, shown or not: who takes turns changing it shows in many, and its creation is the first. */
const causesExamined = 500

/** Most changes of an explanation, however many led to one another. */
export const changesMax = 200

/** Objects that are looked into for one explanation: what was asked about, what it waits for, what that waits for. */
export const objectsMax = 32
const depthMax = 5
/** Of many objects of which one is waited for, so many are looked into. */
const leadsMax = 8

/**
 * Says why an object is as it is. What the reader may not see is left out, and nothing is concluded from what could not be read.
 * Rejects with NotFound where there is no such object, and the record has nothing of one.
 */
export async function explain(
  source: WhySource,
  subject: Subject,
  { changes: limit = changesDefault }: ExplainOptions = {},
): Promise<Explanation> {
  const object = await find(source, subject)
  const causes = await ownCauses(source, subject, object, Math.max(limit, causesExamined), 0)
  return explanationOf(source, subject, object, causes, causes && followed(causes, limit))
}

/** An explanation of what was found just now: its changes are those causes, and all that led to them. */
async function explanationOf(
  source: WhySource,
  subject: Subject,
  object: KubernetesObject | undefined,
  causes: readonly Cause[] | undefined,
  shown: readonly Cause[] | undefined,
): Promise<Explanation> {
  const links = shown === undefined ? undefined : await chains(source, shown)
  const findings =
    object === undefined
      ? await missingFindings(source, subject, causes ?? [])
      : await examine(source, object, causes ?? [])
  return {
    apiVersion: 'coracle.dev/v1',
    kind: 'Explanation',
    object: object === undefined ? absent(subject, causes) : referenceTo(object),
    verdict: object === undefined ? 'gone' : verdictOf(findings),
    findings,
    ...(links === undefined ? {} : { changes: links.map(changeOf) }),
  }
}

/** How often it is looked whether an explanation has become another, unless it is said. */
export const followIntervalMs = 2000

export interface FollowOptions extends ExplainOptions {
  readonly intervalMs?: number
  /** What passes the time between two looks; a timer of the clock unless given. */
  readonly wait?: (ms: number) => Promise<void>
  readonly signal?: AbortSignal
}

/**
 * Explains an object again and again. Each explanation but the first comes when there is something new to say: its changes are those
 * that have come since the one before. Ends with the signal.
 */
export async function* follow(
  source: WhySource,
  subject: Subject,
  { changes: limit = changesDefault, intervalMs = followIntervalMs, wait, signal }: FollowOptions = {},
): AsyncGenerator<Explanation, void, void> {
  const pause = wait ?? ((ms: number) => sleep(source.clock, ms))
  let known: readonly Cause[] = []
  let said = ''
  const told = new Set<number>()
  for (let isFirst = true; signal?.aborted !== true; isFirst = false) {
    const object = await find(source, subject)
    const examined = Math.max(limit, causesExamined)
    const fresh = await ownCauses(source, subject, object, examined, known[0]?.revision ?? 0)
    known = [...(fresh ?? []), ...known].slice(0, examined)
    const explanation = await explanationOf(source, subject, object, fresh && known, fresh && followed(fresh, limit))
    const changes = explanation.changes?.filter(({ revision }) => !told.has(revision))
    for (const { revision } of changes ?? []) told.add(revision)
    const saying = gistOf(explanation)
    if (isFirst || saying !== said || (changes ?? []).length > 0) {
      yield { ...explanation, ...(changes === undefined ? {} : { changes }) }
    }
    said = saying
    await pause(intervalMs)
  }
}

/** What an explanation says but for times and counts, which become others all the time: two that have it in common say the same. */
export const gistOf = ({ verdict, findings }: Explanation): string =>
  JSON.stringify([verdict, ...findings.map(({ reason, object, state }) => [reason, object.uid ?? object.name, state])])

async function find(
  { client }: WhySource,
  { resource, namespace, name }: Subject,
): Promise<KubernetesObject | undefined> {
  try {
    return await client.get(resource, namespace === undefined ? { name } : { namespace, name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** The latest causes of changes of an object, those after a revision; of one that is gone those of its name. */
async function ownCauses(
  { causes: source }: WhySource,
  { resource: { group, plural }, namespace, name }: Subject,
  object: KubernetesObject | undefined,
  limit: number,
  after: number,
): Promise<readonly Cause[] | undefined> {
  const uid = object?.metadata.uid
  const selection = {
    group,
    resource: plural,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(after === 0 ? {} : { after }),
  }
  return readCauses(source, selection, limit)
}

/** The latest causes, and that of the creation: it leads to whoever wanted the object, however much has happened to it since. */
function followed(causes: readonly Cause[], limit: number): readonly Cause[] {
  const rest = causes
    .slice(limit)
    .filter(({ request, changes }) => request.verb === 'create' && changes[0]?.operation === 'create')
  return [...causes.slice(0, limit), ...rest]
}

/** Those causes and all that led to them, newest first. Where they are too many, what led to the last of them stays. */
async function chains({ causes: source }: WhySource, own: readonly Cause[]): Promise<readonly CauseLink[]> {
  const links = new Map<number, CauseLink>()
  const last = own.at(-1)
  for (const { revision } of last === undefined ? [] : [last, ...own]) {
    if (links.has(revision)) continue
    for (const link of await readChain(source, revision)) {
      if (links.size < changesMax) links.set(link.cause.revision, link)
    }
  }
  return [...links.values()].sort((a, b) => b.cause.revision - a.cause.revision)
}

/** What holds an object up, and what holds up what it waits for. */
async function examine(
  { client, clock }: WhySource,
  asked: KubernetesObject,
  causes: readonly Cause[],
): Promise<readonly Finding[]> {
  const nowMs = clock.now()
  const surroundings = new Surroundings(client)
  const seen = new Set<string>()
  const look = async (object: KubernetesObject, depth: number): Promise<Examined> => {
    seen.add(object.metadata.uid ?? '')
    const rules = rulesOf(object)
    const own = depth === 0 ? causes : []
    const facts = await surroundings.factsOf(object, rules.reads?.(object) ?? [], { causes: own, nowMs })
    const leads: Examined[] = []
    if (depth < depthMax) {
      for (const lead of (rules.leads?.(facts) ?? []).slice(0, leadsMax)) {
        if (seen.has(lead.metadata.uid ?? '') || seen.size >= objectsMax) continue
        leads.push(await look(lead, depth + 1))
      }
    }
    return { facts, rules, leads }
  }
  return findingsOf(await look(asked, 0))
}

/** What became of an object that is not there; or of the request to create it, of which nothing but an event is left. */
async function missingFindings(
  { client }: WhySource,
  subject: Subject,
  causes: readonly Cause[],
): Promise<readonly Finding[]> {
  const reference = absent(subject, causes)
  if (causes.length > 0) return goneFindings(reference, causes)
  const { resource, namespace, name } = subject
  const refusals = namespace === undefined ? [] : await refusalEvents(client, namespace)
  const findings = neverThere(reference, refusals)
  if (findings.length === 0) throw notFound(resource, name)
  return findings
}

async function refusalEvents(client: Pick<Client, 'list'>, namespace: string): Promise<readonly Event[]> {
  try {
    return (await client.list<Event>(events, { namespace, fieldSelector: 'reason=FailedCreate', limit: 500 })).items
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return []
    throw error
  }
}

function absent({ resource, namespace, name }: Subject, causes: readonly Cause[] = []): ObjectReference {
  const change = causes[0]?.changes.find((each) => each.name === name && each.resource === resource.plural)
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(change?.uid === undefined ? {} : { uid: change.uid }),
  }
}
