import { hasReason, type KubernetesObject, namespaces, type PolicyRule, type Subject } from '@coracle/api'
import { type AnyBinding, type AnyRole, planBinding, planRole, type ReconcilePlan } from '@coracle/api/rbac'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { plainFieldManager } from '../manifests/field-managers.ts'
import { hasFiles, loadReadable, type ManifestFlags, requireOneSource } from '../manifests/load-manifests.ts'
import { requireNamespace } from '../manifests/place-object.ts'
import { type OutcomeFlags, OutcomePrinter } from '../output/outcome-printer.ts'
import { type LateFlags, throwLate } from '../refused-value.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { localResource } from './change-objects.ts'
import { type Placed, placeManifest, throwAll } from './manifest-command.ts'
import { keyOf } from './targets.ts'

export interface ReconcileFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags, LateFlags {
  readonly removeExtraPermissions?: boolean
  readonly removeExtraSubjects?: boolean
  /** Who writes, for field ownership. */
  readonly fieldManager?: string
}

/**
 * `coracle auth reconcile -f FILE`: gives roles the rules, and bindings the subjects, that files say, beside what they have.
 * Other objects of the files are passed over.
 */
export async function reconcileRights(host: Host, args: readonly string[], flags: ReconcileFlags): Promise<void> {
  if (!hasFiles(flags)) throw new CliError('must specify one of -f and -k')
  requireOneSource(flags)
  if (args.length > 0) throw new CliError('no arguments are allowed')
  throwLate(flags, 'dryRun')
  if (flags.dryRun === 'server') throw new CliError('--dry-run=server for command reconcile is not supported yet')
  const { manifests, failures } = await loadReadable(host, flags, { decoding: 'typed' })
  await withSession(host, flags, async (session) => {
    const printer = await OutcomePrinter.for(host, flags)
    const errors: unknown[] = []
    for (const manifest of manifests) {
      const { object } = manifest
      try {
        requireNamespace(object, localResource(object), session)
        if (!object.apiVersion.startsWith('rbac.authorization.k8s.io/')) continue
        const placed = await placeManifest(session, manifest)
        const { plan, done } = await reconcileOne(session, placed, flags)
        await printer.print(placed.resource, { verb: 'reconciled', object: done })
        host.stderr.write(planText(plan, flags))
      } catch (error) {
        errors.push(error)
      }
    }
    throwAll(errors, failures)
  })
}

/** How often one that others create and delete meanwhile is looked at, as by kubectl. */
const attemptsMax = 3

/** What there was to do, and the object as it is then. */
async function reconcileOne(
  session: Session,
  placed: Placed,
  flags: ReconcileFlags,
): Promise<{ readonly plan: ReconcilePlan<KubernetesObject>; readonly done: KubernetesObject }> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { plan, uid } = await planFor(session, placed, flags)
    if (flags.dryRun !== 'none' || plan.isProtected) return { plan, done: plan.object }
    const done = await carryOut(session, placed, plan, uid, flags)
    if (done !== undefined) return { plan, done }
  }
  throw new CliError('exceeded maximum attempts')
}

async function planFor(
  { client }: Session,
  { resource, object }: Placed,
  { removeExtraPermissions = false, removeExtraSubjects = false }: ReconcileFlags,
): Promise<{ readonly plan: ReconcilePlan<KubernetesObject>; readonly uid: string | undefined }> {
  const existing = await client.get<KubernetesObject>(resource, keyOf(object)).catch((error: unknown) => {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  })
  const plan = resource.kind.endsWith('Binding')
    ? planBinding(existing as AnyBinding | undefined, object as AnyBinding, removeExtraSubjects)
    : planRole(existing as AnyRole | undefined, object as AnyRole, removeExtraPermissions)
  return { plan, uid: existing?.metadata.uid }
}

/** Undefined where others have created, deleted or replaced the object meanwhile: another look is to be taken. */
async function carryOut(
  session: Session,
  { resource, object: expected }: Placed,
  { operation, object }: ReconcilePlan<KubernetesObject>,
  uid: string | undefined,
  { fieldManager = plainFieldManager }: ReconcileFlags,
): Promise<KubernetesObject | undefined> {
  const { client } = session
  if (operation === 'none') return object
  if (operation === 'update') return unless('NotFound', client.update(resource, object, { fieldManager }))
  if (operation === 'recreate') {
    // Only the one that was looked at: another of its name may be what is wanted.
    const deleted = client.delete(resource, keyOf(expected), uid === undefined ? {} : { preconditions: { uid } })
    try {
      await deleted
    } catch (error) {
      if (hasReason(error, 'Conflict')) return undefined
      if (!hasReason(error, 'NotFound')) throw error
    }
  } else await ensureNamespace(session, expected.metadata.namespace, fieldManager)
  return unless('AlreadyExists', client.create(resource, object, { fieldManager }))
}

/** Undefined where it is refused for that reason. */
const unless = <T>(reason: string, done: Promise<T>): Promise<T | undefined> =>
  done.catch((error: unknown) => {
    if (!hasReason(error, reason)) throw error
    return undefined
  })

/** Creates the namespace where it is not there. Who may not need not: it may be there all the same. */
async function ensureNamespace({ client }: Session, name: string | undefined, fieldManager: string): Promise<void> {
  if (name === undefined) return
  try {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists') && !hasReason(error, 'Forbidden')) throw error
  }
}

/** What was required, and of what there was too little or, where that is taken away, too much. */
function planText(plan: ReconcilePlan<KubernetesObject>, flags: ReconcileFlags): string {
  const { operation, isProtected, missingSubjects, extraSubjects, missingRules, extraRules } = plan
  if (operation === 'none') return ''
  const caveat = isProtected ? ', but object opted out (rbac.authorization.kubernetes.io/autoupdate: false)' : ''
  const section = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `\t${heading}:\n${lines.map((line) => `\t\t${line}\n`).join('')}`
  return [
    `\treconciliation required ${operation}${caveat}\n`,
    section('missing subjects added', missingSubjects.map(subjectText)),
    flags.removeExtraSubjects === true ? section('extra subjects removed', extraSubjects.map(subjectText)) : '',
    section('missing rules added', missingRules.map(ruleText)),
    flags.removeExtraPermissions === true ? section('extra rules removed', extraRules.map(ruleText)) : '',
  ].join('')
}

const subjectText = ({ kind, apiGroup = '', name, namespace = '' }: Subject): string =>
  `{Kind:${kind} APIGroup:${apiGroup} Name:${name} Namespace:${namespace}}`

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  const list = (values: readonly string[] = []) => `[${values.join(' ')}]`
  return `{Verbs:${list(verbs)} APIGroups:${list(apiGroups)} Resources:${list(resources)} ResourceNames:${list(resourceNames)} NonResourceURLs:${list(nonResourceURLs)}}`
}
