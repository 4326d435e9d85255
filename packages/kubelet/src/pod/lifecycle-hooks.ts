import type { Container, LifecycleHandler, Pod } from '@coracle/api'
import { sleep } from '@coracle/environment'
import { runHandler } from '../probes/handlers.ts'
import type { ContainerRuntimeStatus } from '../runtimes/runtime.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent } from './pod-events.ts'

/** Servers know hooks by this. */
const hookUserAgent = 'kube-lifecycle/1.36'

/**
 * Runs what a container asks to be done once it has started. False where that failed, which is a reason to kill it.
 * Ends early, and well, when the signal is aborted or the container has stopped.
 */
export async function runPostStart(
  context: PodContext,
  pod: Pod,
  address: string,
  containerId: string,
  container: Container,
  signal: AbortSignal,
): Promise<boolean> {
  const hook = container.lifecycle?.postStart
  if (hook === undefined || !canRun(context, hook)) return true
  const controller = new AbortController()
  const abort = () => controller.abort(new Error('the container has stopped'))
  signal.addEventListener('abort', abort, { once: true })
  const unsubscribe = context.runtime.subscribe((event) => {
    if (event.containerId === containerId) abort()
  })
  const ok = await runHook(
    context,
    hook,
    { runtime: context.runtime, containerId, container, address, userAgent: hookUserAgent, timeoutSeconds: 0 },
    controller.signal,
  )
  unsubscribe()
  signal.removeEventListener('abort', abort)
  if (ok || controller.signal.aborted) return true
  recordContainerEvent(context, pod, container, 'Warning', 'FailedPostStartHook', 'PostStartHook failed')
  return false
}

/**
 * Runs what a container asks to be done before it is stopped. It has the grace period, and a failure delays nothing: the
 * container is stopped all the same.
 */
export async function runPreStop(
  context: PodContext,
  pod: Pod,
  address: string,
  run: ContainerRuntimeStatus,
  container: Container | undefined,
  hook: LifecycleHandler,
  gracePeriodMs: number,
): Promise<void> {
  if (container === undefined || !canRun(context, hook)) return
  const { clock } = context.environment
  const controller = new AbortController()
  const timer = clock.setTimer(gracePeriodMs, () => controller.abort(new Error('the grace period is over')))
  const stopped = context.runtime.subscribe(({ containerId }) => {
    if (containerId === run.id) controller.abort(new Error('the container has stopped'))
  })
  const ok = await runHook(
    context,
    hook,
    {
      runtime: context.runtime,
      containerId: run.id,
      container,
      address,
      userAgent: hookUserAgent,
      timeoutSeconds: gracePeriodMs / 1000,
    },
    controller.signal,
  )
  timer.cancel()
  stopped()
  if (!ok) recordContainerEvent(context, pod, container, 'Warning', 'FailedPreStopHook', 'PreStopHook failed')
}

/** Simulated containers have no process to run a command in or to answer a request, but they can wait. */
const canRun = ({ runtime }: PodContext, hook: LifecycleHandler): boolean =>
  runtime.runsProcesses || hook.sleep !== undefined

async function runHook(
  { environment }: PodContext,
  hook: LifecycleHandler,
  target: Parameters<typeof runHandler>[1],
  signal: AbortSignal,
): Promise<boolean> {
  if (hook.sleep === undefined) {
    const { ok, answered } = await runHandler(hook, target, signal)
    // Hooks only want to be heard: what the server makes of it does not matter (upstream's runHTTPHandler).
    return ok || answered === true
  }
  try {
    await sleep(environment.clock, hook.sleep.seconds * 1000, signal)
  } catch {
    // Cut short, as it should be.
  }
  return true
}
