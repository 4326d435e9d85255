import {
  hasReason,
  type Node,
  nodes,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  storageClassOfClaim,
  volumeAnnotations,
} from '@coracle/api'
import { keyOf } from '@coracle/client'
import {
  type Controller,
  controller,
  getCondition,
  type Lookup,
  type Predicate,
  performPlan,
  type ReconcileContext,
} from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { createDefaultClassController } from './default-class.ts'
import type { ProvisionPlan } from './plan.ts'
import { type LocalVolumes, localPathProvisioner, nodeOfLocalVolume, volumeNameFor } from './provisioner.ts'

const component = 'local-path-provisioner'

/**
 * Makes volumes that are directories, and deletes them. It runs beside the nodes whose directories they are, in every process that is
 * a node, and only sees to its own (what external provisioners call node deployment); and once in a cluster for all nodes that have
 * agents elsewhere, whom it asks.
 */
export function createLocalPathProvisioner(volumes: LocalVolumes): readonly Controller[] {
  return [createDefaultClassController(), createProvisioner(volumes), createDeleter(volumes)]
}

/** A claim whose node is not there any more waits so long for it before it may go to another. */
export const nodeGoneMs = 40_000

/**
 * A volume that nobody uses any more waits so long for its node: a machine that comes back removes what was in the volume, and one that does not
 * must not keep the object for ever.
 */
export const volumeNodeGoneMs = 3_600_000

function createProvisioner(volumes: LocalVolumes): Controller {
  /** By key of the claim: since when its node is not there, on the monotonic clock. */
  const missingSince = new Map<string, Time>()
  const builder = controller('local-path-provisioner', { component })
    .for(persistentVolumeClaims, { predicates: [({ object }) => isAsked(object)] })
    .reads(persistentVolumes)
    .reads(storageClasses)
  return (
    volumes.nodesChange === true ? builder.watches(nodes, claimsFor, { predicates: [comesOrGoes] }) : builder
  ).reconcile(async ({ key, object: claim }, context) => {
    const gone = volumes.nodesChange === true && claim !== undefined ? goneNodeOf(claim, context) : undefined
    if (claim !== undefined && gone !== undefined) {
      const nowMs = context.clock.monotonicMs()
      const since = missingSince.get(key) ?? nowMs
      missingSince.set(key, since)
      if (nowMs < since + nodeGoneMs) return { requeueAfterMs: since + nodeGoneMs - nowMs }
    }
    missingSince.delete(key)
    if (claim === undefined) return undefined
    if (gone === undefined && context.informer(persistentVolumes).get(volumeNameFor(claim)) !== undefined)
      return undefined
    // Where time is virtual it stands still meanwhile.
    const { planOtherNode, planProvision } = await context.clock.hold(import('./plan.ts'))
    if (gone !== undefined) return performPlan(context, claim, planOtherNode(claim, gone))
    const storageClass = context.informer(storageClasses).get(storageClassOfClaim(claim) ?? '')
    const plan = planProvision(claim, storageClass, volumes.isOwn)
    if (plan.type === 'refuse') context.recorder.event(claim, 'Warning', 'ProvisioningFailed', plan.message)
    if (plan.type === 'provision') await provision(claim, plan, volumes, context)
    return undefined
  })
}

/** The node that a claim is to have its volume on, where that is not there any more. */
function goneNodeOf(claim: PersistentVolumeClaim, lookup: Lookup): string | undefined {
  const { deletionTimestamp, annotations = {} } = claim.metadata
  const nodeName = annotations[volumeAnnotations.selectedNode]
  if (claim.spec?.volumeName || deletionTimestamp !== undefined || !isAsked(claim) || nodeName === undefined)
    return undefined
  if (lookup.informer(persistentVolumes).get(volumeNameFor(claim)) !== undefined) return undefined
  return lookup.informer(nodes).get(nodeName) === undefined ? nodeName : undefined
}

/** The claims that are to have a volume on a node. */
function claimsFor({ metadata }: Node, lookup: Lookup): readonly string[] {
  const isFor = ({ metadata: { annotations }, spec }: PersistentVolumeClaim): boolean =>
    !spec?.volumeName && annotations?.[volumeAnnotations.selectedNode] === metadata.name
  return lookup.informer(persistentVolumeClaims).list().filter(isFor).map(keyOf)
}

/** The volumes that are on a node. */
const volumesOn = ({ metadata }: Node, lookup: Lookup): readonly string[] =>
  lookup
    .informer(persistentVolumes)
    .list()
    .filter((volume) => nodeOfLocalVolume(volume) === metadata.name)
    .map(keyOf)

/** A node is there from now on, is there again, or is not there any more. */
const comesOrGoes: Predicate<Node> = (change) => change.type === 'delete' || comesUp(change)

/** A node is there from now on, or is there again. */
const comesUp: Predicate<Node> = (change) =>
  change.type === 'add' || (change.type === 'update' && !isReady(change.old) && isReady(change.object))

const isReady = ({ status }: Node): boolean => getCondition(status?.conditions, 'Ready')?.status === 'True'

const isAsked = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[volumeAnnotations.provisioner] === localPathProvisioner

async function provision(
  claim: PersistentVolumeClaim,
  { nodeName, volume }: Extract<ProvisionPlan, { readonly type: 'provision' }>,
  volumes: LocalVolumes,
  context: ReconcileContext<PersistentVolumeClaim>,
): Promise<void> {
  const { recorder } = context
  const { namespace, name } = claim.metadata
  const told = `External provisioner is provisioning volume for claim "${namespace}/${name}"`
  recorder.event(claim, 'Normal', 'Provisioning', told)
  try {
    const object = volume(await volumes.create(nodeName, volumeNameFor(claim)))
    const because = `claim ${name} asks for a volume on node ${nodeName}`
    await performPlan(context, claim, { actions: [{ type: 'create', resource: persistentVolumes, object, because }] })
  } catch (error) {
    // An earlier attempt came further than its answer.
    if (hasReason(error, 'AlreadyExists')) return
    const why = error instanceof Error ? error.message : String(error)
    const className = JSON.stringify(storageClassOfClaim(claim) ?? '')
    const message = `failed to provision volume with StorageClass ${className}: ${why}`
    recorder.event(claim, 'Warning', 'ProvisioningFailed', message)
    throw error
  }
  const done = `Successfully provisioned volume ${volumeNameFor(claim)}`
  recorder.event(claim, 'Normal', 'ProvisioningSucceeded', done)
}

function createDeleter(volumes: LocalVolumes): Controller {
  /** By name of the volume: since when its node is not there, on the monotonic clock. */
  const missingSince = new Map<string, Time>()
  const builder = controller('local-path-deleter', { component }).for(persistentVolumes)
  return (
    volumes.nodesChange === true ? builder.watches(nodes, volumesOn, { predicates: [comesOrGoes] }) : builder
  ).reconcile(async ({ key, object: volume }, context) => {
    const nodeName = volume === undefined ? undefined : nodeOfLocalVolume(volume)
    const isNodeMissing =
      volumes.nodesChange === true && nodeName !== undefined && context.informer(nodes).get(nodeName) === undefined
    const nowMs = context.clock.monotonicMs()
    const since = missingSince.get(key) ?? nowMs
    if (isNodeMissing) missingSince.set(key, since)
    else missingSince.delete(key)
    if (volume === undefined || nodeName === undefined) return undefined
    const isNodeGone = isNodeMissing && nowMs >= since + volumeNodeGoneMs
    const { planDeletion } = await context.clock.hold(import('./plan.ts'))
    const { removes, ...plan } = planDeletion(volume, volumes.isOwn, isNodeGone)
    try {
      if (removes !== undefined) await volumes.remove(removes.nodeName, removes.volumeName, removes.path)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      context.recorder.event(volume, 'Warning', 'VolumeFailedDelete', why)
      throw error
    }
    const outcome = await performPlan(context, volume, plan)
    return isNodeMissing && !isNodeGone ? { requeueAfterMs: since + volumeNodeGoneMs - nowMs } : outcome
  })
}
