import { formatTime, type KubernetesObject, type PodTemplateSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import { hasFiles } from '../../manifests/load-manifests.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import { refusalOfSelection } from '../connection-refusals.ts'
import type { Target } from '../targets.ts'
import { writeChanges } from '../write-changes.ts'

/** `coracle rollout pause TYPE NAME` */
export function rolloutPause(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  return changeRollout(host, args, 'pause', 'paused', flags, (target) => {
    requireDeployment(target, 'pausing')
    if (specOf(target.object).paused === true) throw new Unchangeable('is already paused')
    return withSpec(target.object, { paused: true })
  })
}

/** `coracle rollout resume TYPE NAME` */
export function rolloutResume(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  return changeRollout(host, args, 'resume', 'resumed', flags, (target) => {
    requireDeployment(target, 'resuming')
    const { paused, ...spec } = specOf(target.object)
    if (paused !== true) throw new Unchangeable('is not paused')
    return { ...target.object, ...{ spec } }
  })
}

/** When a restart was asked for: what makes the template another. */
const restartedAtAnnotation = 'kubectl.kubernetes.io/restartedAt'

/** `coracle rollout restart TYPE NAME`: pods are replaced as if the template had changed */
export function rolloutRestart(host: Host, args: readonly string[], flags: ChangeFlags): Promise<void> {
  return changeRollout(host, args, 'restart', 'restarted', flags, ({ resource, object }) => {
    const { paused, template } = specOf(object)
    if (!['Deployment', 'DaemonSet', 'StatefulSet'].includes(resource.kind) || template === undefined) {
      throw new Unchangeable('restarting is not supported')
    }
    if (resource.kind === 'Deployment' && paused === true) {
      throw new Unchangeable("can't restart paused deployment (run rollout resume first)")
    }
    const { metadata } = template
    const restartedAt = formatTime(host.environment.clock.now())
    if (metadata?.annotations?.[restartedAtAnnotation] === restartedAt) {
      throw new CliError(
        `failed to create patch for ${object.metadata.name}: if restart has already been triggered within the past second, please wait before attempting to trigger another`,
      )
    }
    const annotations = { ...metadata?.annotations, [restartedAtAnnotation]: restartedAt }
    return withSpec(object, { template: { ...template, metadata: { ...metadata, annotations } } })
  })
}

/** Why an object is not changed; the message begins with its name. */
class Unchangeable extends Error {}

async function changeRollout(
  host: Host,
  args: readonly string[],
  verb: string,
  done: string,
  flags: ChangeFlags,
  change: (target: Target) => KubernetesObject,
): Promise<void> {
  if (args.length === 0 && !hasFiles(flags)) throw new CliError('required resource not specified')
  return changeObjects(
    host,
    args,
    verb,
    {
      ...flags,
      ...{ typesMeanAll: true, typed: true, tellsMissingFirst: true, tellsNothingFound: true },
      ...{ looksAtOutputLate: true, hasDeclaredOrder: true, startsAnew: true },
      refusalOfConnection: refusalOfSelection,
    },
    async (session, target) => {
      const wanted = changed(target, change)
      return {
        verb: done,
        object: await writeChanges(session, target, wanted, {
          dryRun: flags.dryRun,
          fieldManager: flags.fieldManager ?? fieldManagerOf('rollout'),
          failure: 'failed to patch:',
        }),
      }
    },
  )
}

function changed(target: Target, change: (target: Target) => KubernetesObject): KubernetesObject {
  try {
    return change(target)
  } catch (error) {
    if (!(error instanceof Unchangeable)) throw error
    const { plural, group } = target.resource
    // Each of several has the word before it, as kubectl's.
    throw new CliError(`error: ${plural}${group === '' ? '' : `.${group}`} "${target.key.name}" ${error.message}`)
  }
}

function requireDeployment({ resource }: Target, what: string): void {
  if (resource.group !== 'apps' || resource.kind !== 'Deployment') throw new Unchangeable(`${what} is not supported`)
}

interface RolloutSpec {
  readonly paused?: boolean
  readonly template?: PodTemplateSpec
}

const specOf = (object: KubernetesObject): RolloutSpec => (object as { readonly spec?: RolloutSpec }).spec ?? {}

const withSpec = (object: KubernetesObject, changes: RolloutSpec): KubernetesObject => ({
  ...object,
  ...{ spec: { ...specOf(object), ...changes } },
})
