import type { ReplicationController } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import { pause } from '../../pause.ts'
import { annotations, notedCount } from './controllers.ts'
import { nextStep, type Step } from './plan.ts'
import { change, getController, type Update } from './update.ts'

/** Takes step after step until the new controller has all its pods and the old one none. */
export async function advance(update: Update, names: { readonly old: string; readonly next: string }): Promise<void> {
  const { host, session, updatePeriodMs, pollIntervalMs, timeoutMs } = update
  const { clock } = host.environment
  let since = clock.now()
  for (;;) {
    const [old, next] = await Promise.all([getController(session, names.old), getController(session, names.next)])
    const original = notedCount(old, annotations.original) ?? old.spec.replicas ?? 1
    const desired = notedCount(next, annotations.desired) ?? original
    const step = nextStep({ old: stateOf(old), next: stateOf(next), original, desired })
    if (step.type === 'finish') return
    if (step.type === 'wait') {
      if (clock.now() - since >= timeoutMs) {
        throw new CliError(
          `timed out waiting for ${names.old} and ${names.next}: both stay as they are, and the same command goes on from there`,
        )
      }
      await pause(host, pollIntervalMs)
      continue
    }
    host.stdout.write(`${stepText(step, names)}\n`)
    await change(session, names[step.controller], (controller) => ({
      ...controller,
      spec: { ...controller.spec, replicas: step.replicas },
    }))
    // The next pod has its time; then what it does is looked at.
    if (step.controller === 'old') await pause(host, updatePeriodMs)
    since = clock.now()
  }
}

/** What a controller says of the spec that it has now; nothing is ready that it has not seen. */
function stateOf({ metadata, spec, status }: ReplicationController) {
  const replicas = spec.replicas ?? 1
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  if (!isSeen) return { replicas, current: Number.POSITIVE_INFINITY, ready: 0 }
  return { replicas, current: status?.replicas ?? 0, ready: status?.readyReplicas ?? 0 }
}

type ScaleStep = Extract<Step, { readonly type: 'scale' }>

/** What a step is called in progress. */
export const stepText = (
  { controller, replicas }: ScaleStep,
  names: { readonly old: string; readonly next: string },
): string => `Scaling ${names[controller]} ${controller === 'old' ? 'down' : 'up'} to ${replicas}`
