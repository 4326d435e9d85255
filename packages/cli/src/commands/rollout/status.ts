import {
  type DaemonSet,
  type Deployment,
  deploymentRevision,
  type KubernetesObject,
  type StatefulSet,
} from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { type ConnectionFlags, withSession } from '../../session.ts'
import { awaitObject } from '../await-object.ts'
import { findTargets, forEachTarget, type Target, type TargetFlags, tellNothingFound } from '../targets.ts'
import { groupKindText } from './revisions.ts'

export interface RolloutStatusFlags extends ConnectionFlags, TargetFlags {
  /** Goes on until the rollout is done. */
  readonly watch: boolean
  readonly timeout: string
  /** The revision that must be the one being rolled out; 0: whichever it is. */
  readonly revision: number
}

/** How far a rollout is. */
export interface RolloutState {
  readonly message: string
  readonly isDone: boolean
}

/** `coracle rollout status TYPE NAME` */
export async function rolloutStatus(host: Host, args: readonly string[], flags: RolloutStatusFlags): Promise<void> {
  if (flags.revision < 0) throw new CliError(`revision must be a positive integer: ${flags.revision}`)
  if (args.length === 0 && !hasFiles(flags)) throw new CliError('required resource not specified')
  const timeoutMs = parseDuration(flags.timeout)
  await withSession(host, flags, async (session) => {
    const targets = await findTargets(host, session, args, 'watch', { ...flags, typesMeanAll: true, typed: true })
    if (targets.found.length + targets.unread.length === 0) tellNothingFound(host, session)
    await forEachTarget(targets, async (target) => {
      const stateOf = viewerOf(target)
      let told = ''
      const isOver = (object: KubernetesObject | undefined): boolean => {
        if (object === undefined) throw new CliError('object has been deleted')
        const { message, isDone } = stateOf(object, flags.revision)
        // What has been said is not said again because something else of the object changed.
        if (message !== told) host.stdout.write(`${message}\n`)
        told = message
        return isDone || !flags.watch
      }
      if (await awaitObject(host, session, target, timeoutMs, isOver)) return
      throw new CliError('timed out waiting for the condition')
    })
  })
}

type Viewer = (object: KubernetesObject, revision: number) => RolloutState

const viewers: Readonly<Record<string, Viewer>> = {
  Deployment: (object, revision) => deploymentState(object as Deployment, revision),
  DaemonSet: (object) => daemonSetState(object as DaemonSet),
  StatefulSet: (object) => statefulSetState(object as StatefulSet),
}

function viewerOf(target: Target): Viewer {
  const viewer = target.resource.group === 'apps' ? viewers[target.resource.kind] : undefined
  if (viewer === undefined) throw new CliError(`no status viewer has been implemented for ${groupKindText(target)}`)
  return viewer
}

const going = (message: string): RolloutState => ({ message, isDone: false })
const done = (message: string): RolloutState => ({ message, isDone: true })

/** How far a Deployment is, in kubectl's words. Throws a CliError where it will not get there. */
export function deploymentState({ metadata, spec, status = {} }: Deployment, revision = 0): RolloutState {
  const name = JSON.stringify(metadata.name)
  if (revision > 0) {
    const running = deploymentRevision(metadata)
    if (running !== BigInt(revision)) {
      throw new CliError(`desired revision (${revision}) is different from the running revision (${running})`)
    }
  }
  if ((metadata.generation ?? 0) > (status.observedGeneration ?? 0)) {
    return going('Waiting for deployment spec update to be observed...')
  }
  const progressing = status.conditions?.find(({ type }) => type === 'Progressing')
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    throw new CliError(`deployment ${name} exceeded its progress deadline`)
  }
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status
  const waiting = `Waiting for deployment ${name} rollout to finish:`
  if (spec.replicas !== undefined && updatedReplicas < spec.replicas) {
    return going(`${waiting} ${updatedReplicas} out of ${spec.replicas} new replicas have been updated...`)
  }
  if (replicas > updatedReplicas) {
    return going(`${waiting} ${replicas - updatedReplicas} old replicas are pending termination...`)
  }
  if (availableReplicas < updatedReplicas) {
    return going(`${waiting} ${availableReplicas} of ${updatedReplicas} updated replicas are available...`)
  }
  return done(`deployment ${name} successfully rolled out`)
}

const onlyRollingUpdates = 'rollout status is only available for RollingUpdate strategy type'

/** How far a DaemonSet is, in kubectl's words. */
export function daemonSetState({ metadata, spec, status }: DaemonSet): RolloutState {
  if (spec.updateStrategy?.type !== 'RollingUpdate') throw new CliError(onlyRollingUpdates)
  const name = JSON.stringify(metadata.name)
  if ((metadata.generation ?? 0) > (status?.observedGeneration ?? 0)) {
    return going('Waiting for daemon set spec update to be observed...')
  }
  const wanted = status?.desiredNumberScheduled ?? 0
  const updated = status?.updatedNumberScheduled ?? 0
  const available = status?.numberAvailable ?? 0
  const waiting = `Waiting for daemon set ${name} rollout to finish:`
  if (updated < wanted) return going(`${waiting} ${updated} out of ${wanted} new pods have been updated...`)
  if (available < wanted) return going(`${waiting} ${available} of ${wanted} updated pods are available...`)
  return done(`daemon set ${name} successfully rolled out`)
}

/** How far a StatefulSet is, in kubectl's words. */
export function statefulSetState({ metadata, spec, status }: StatefulSet): RolloutState {
  const { type, rollingUpdate } = spec.updateStrategy ?? {}
  if (type !== 'RollingUpdate') throw new CliError(onlyRollingUpdates)
  const { observedGeneration = 0, readyReplicas = 0, updatedReplicas = 0 } = status ?? {}
  const { currentRevision = '', updateRevision = '', currentReplicas = 0 } = status ?? {}
  if (observedGeneration === 0 || (metadata.generation ?? 0) > observedGeneration) {
    return going('Waiting for statefulset spec update to be observed...')
  }
  const { replicas } = spec
  if (replicas !== undefined && readyReplicas < replicas) {
    return going(`Waiting for ${replicas - readyReplicas} pods to be ready...`)
  }
  if (rollingUpdate !== undefined) {
    const { partition } = rollingUpdate
    const wanted = replicas === undefined || partition === undefined ? 0 : replicas - partition
    return updatedReplicas < wanted
      ? going(
          `Waiting for partitioned roll out to finish: ${updatedReplicas} out of ${wanted} new pods have been updated...`,
        )
      : done(`partitioned roll out complete: ${updatedReplicas} new pods have been updated...`)
  }
  if (updateRevision !== currentRevision) {
    return going(
      `waiting for statefulset rolling update to complete ${updatedReplicas} pods at revision ${updateRevision}...`,
    )
  }
  return done(`statefulset rolling update complete ${currentReplicas} pods at revision ${currentRevision}...`)
}
