import type { CausedChange } from '@coracle/api'
import type { Author, Change, Explanation } from '@coracle/why'
import type { LoggedChange, WriteLog } from './write-log.ts'

/** What the network knows of who wrote. */
export interface Writers {
  writersOf(revision: number): ReadonlySet<string>
  isUncertain(component: string): boolean
}

/** What is wrong with what an explanation says of changes, held against what was written and by whom. */
export function falseChanges(explanation: Explanation, log: WriteLog, writers: Writers): readonly string[] {
  const { changes = [], object } = explanation
  const problems = changes.flatMap((change) =>
    [
      ...wrongObjects(change, log.at(change.revision)),
      ...wrongAuthor(change.who, writers.writersOf(change.revision), writers),
      ...wrongOrigin(change, log),
    ].map((problem) => `revision ${change.revision}: ${problem}`),
  )
  const latest = log.latestOf(object.uid ?? '')
  const isTold = changes.some(({ revision }) => revision === latest)
  if (latest !== undefined && !isTold) problems.push(`it was last changed at revision ${latest}, which is left out`)
  const order = changes.map(({ revision }) => revision)
  if (order.some((revision, index) => revision >= (order[index - 1] ?? Number.POSITIVE_INFINITY)))
    problems.push(`it is not told newest first: ${order}`)
  return problems
}

/** The very objects that were written, and what was done to them. */
function wrongObjects({ objects }: Change, logged: readonly LoggedChange[]): readonly string[] {
  const told = objects.map(({ operation, uid, ...place }) => `${operation} ${pathOf(place)} ${uid}`).sort()
  const written = logged.map(({ operation, path, uid }) => `${operation} ${path} ${uid}`).sort()
  return told.join() === written.join()
    ? []
    : [`told is ${told.join(', ')}; written was ${written.join(', ') || 'nothing'}`]
}

function pathOf({
  group,
  resource,
  namespace,
  name,
}: Pick<CausedChange, 'group' | 'resource' | 'namespace' | 'name'>): string {
  return [group === '' ? 'core' : group, resource, ...(namespace === undefined ? [] : [namespace]), name].join('/')
}

/** Whoever was answered wrote it, unless its author never got the answer. */
function wrongAuthor(who: Author, answered: ReadonlySet<string>, writers: Writers): readonly string[] {
  if (answered.size === 0 || [...answered].some((component) => isSame(who, component))) return []
  const isExcused = [...answered].every((component) => writers.isUncertain(component)) || writers.isUncertain(who.name)
  const mayBeNode = who.name === 'kubelet' && writers.isUncertain(who.user.replace('system:node:', ''))
  return isExcused || mayBeNode ? [] : [`${who.name} (${who.user}) is told, and ${[...answered].join(', ')} wrote`]
}

function isSame({ name, user }: Author, component: string): boolean {
  if (component === 'player') return user === 'kubernetes-admin'
  const users = [`system:node:${component}`, `system:${component}`, `system:serviceaccount:kube-system:${component}`]
  return name === component || users.includes(user)
}

/** Controllers that look at nothing but their object, and at pods that are its own, or nobody's. Whose they are goes by kind and name. */
const looksAtItsOwn: ReadonlySet<string> = new Set(['replicaset-controller', 'replication-controller', 'kubelet'])

function isOwn({ uid, path }: LoggedChange, of: string, log: WriteLog): boolean {
  const owners = log.ownersOf(uid)
  const isOfItsName = [...owners].some((owner) => owner === of || isAtOnePath(owner, of, log))
  // A node owns what shows the pods of its files: each is another, of one name.
  const isNobodys = [...owners].every((owner) => log.pathOf(owner)?.startsWith('core/nodes/') === true)
  return uid === of || isOfItsName || (path.startsWith('core/pods/') && isNobodys)
}

/** Whether an object is where another was before it. */
function isAtOnePath(former: string, uid: string, log: WriteLog): boolean {
  const path = log.pathOf(uid)
  return path !== undefined && path === log.pathOf(former)
}

/** The uid of a pod that a node was given in a file: the API has only what shows it, with a uid of its own. */
const ofFile = /^[0-9a-f]{32}$/

/** What a change followed from came before it, and what was reconciled was there. */
function wrongOrigin({ revision, from, end, reconciled, who }: Change, log: WriteLog): readonly string[] {
  const problems: string[] = []
  for (const earlier of from) {
    if (earlier >= revision) problems.push(`follows from ${earlier}, which came later`)
    const written = log.at(earlier)
    if (written.length === 0) problems.push(`follows from ${earlier}, at which nothing was written`)
    const { uid = '' } = reconciled ?? {}
    if (looksAtItsOwn.has(who.name) && !written.some((change) => isOwn(change, uid, log)))
      problems.push(`follows from ${earlier}, at which ${written.map(({ path }) => path).join(', ')} changed`)
  }
  if (from.length > 0 && end !== undefined) problems.push(`follows from ${from}, and ends with ${end}`)
  if ((end === 'request') !== (who.type === 'user')) problems.push(`ends with ${end}, by a ${who.type}`)
  if (reconciled?.uid !== undefined && !log.knows(reconciled.uid) && !ofFile.test(reconciled.uid))
    problems.push(`${reconciled.kind} ${reconciled.name} was reconciled, and there was none of uid ${reconciled.uid}`)
  return problems
}
