import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { ImageService, PodSandboxConfig, Runtime } from '../runtimes/runtime.ts'

/** Seconds that operations of runtimes take, in upstream's steps. */
const operationBuckets = Array.from({ length: 14 }, (_, power) => 0.005 * 2.5 ** power)

/** Operations by the methods that stand for them: upstream's names (pkg/kubelet/kuberuntime/instrumented_services.go). */
const runtimeOperations: Readonly<Partial<Record<keyof Runtime, string>>> = {
  status: 'status',
  updateContainerResources: 'update_container',
  listPodSandboxes: 'list_podsandbox',
  runPodSandbox: 'run_podsandbox',
  stopPodSandbox: 'stop_podsandbox',
  removePodSandbox: 'remove_podsandbox',
  podSandboxStats: 'list_podsandbox_stats',
  listContainers: 'list_containers',
  createContainer: 'create_container',
  startContainer: 'start_container',
  stopContainer: 'stop_container',
  removeContainer: 'remove_container',
  containerStats: 'list_container_stats',
  execSync: 'exec_sync',
  exec: 'exec',
  attach: 'attach',
  portForward: 'port_forward',
}

const imageOperations: Readonly<Partial<Record<keyof ImageService, string>>> = {
  list: 'list_images',
  status: 'image_status',
  pull: 'pull_image',
  remove: 'remove_image',
  fileSystem: 'image_fs_info',
}

/** A runtime that does what `runtime` does, and counts it: how often, for how long, and what failed. */
export function measuredRuntime(runtime: Runtime, registry: MetricsRegistry, clock: Clock): Runtime {
  const labels = ['operation_type'] as const
  const total = registry.counter({
    name: 'kubelet_runtime_operations_total',
    help: 'What was asked of the runtime, by kind.',
    labels,
  })
  const failed = registry.counter({
    name: 'kubelet_runtime_operations_errors_total',
    help: 'What was asked of the runtime and failed, by kind.',
    labels,
  })
  const took = registry.histogram({
    name: 'kubelet_runtime_operations_duration_seconds',
    help: 'How long the runtime took, in seconds, by what it was asked.',
    labels,
    buckets: operationBuckets,
  })
  const sandboxes = sandboxMetrics(registry)
  const observe = (operation: string, args: readonly unknown[], beganMs: number, isFailed: boolean): void => {
    const seconds = (clock.monotonicMs() - beganMs) / 1000
    took.with({ operation_type: operation }).observe(seconds)
    if (isFailed) failed.with({ operation_type: operation }).inc()
    if (operation === 'run_podsandbox') sandboxes.ran(args[0] as PodSandboxConfig, seconds, isFailed)
  }
  const measured = <T extends object>(
    target: T,
    operations: Readonly<Partial<Record<keyof T, string>>>,
    replaced: Partial<T> = {},
  ): T => {
    const methods = new Map<PropertyKey, unknown>(Object.entries(replaced))
    return new Proxy(target, {
      get(_, key) {
        const known = methods.get(key)
        if (known !== undefined) return known
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        const operation = operations[key as keyof T]
        const method =
          operation === undefined
            ? value.bind(target)
            : async (...args: readonly unknown[]) => {
                const beganMs = clock.monotonicMs()
                total.with({ operation_type: operation }).inc()
                try {
                  const result: unknown = await value.apply(target, args)
                  observe(operation, args, beganMs, false)
                  return result
                } catch (error) {
                  observe(operation, args, beganMs, true)
                  throw error
                }
              }
        methods.set(key, method)
        return method
      },
    })
  }
  const images = runtime.images === undefined ? undefined : measured(runtime.images, imageOperations)
  return measured(runtime, runtimeOperations, images === undefined ? {} : { images })
}

function sandboxMetrics(registry: MetricsRegistry) {
  const counter = (name: string, help: string) => registry.counter({ name, help }).with({})
  const started = counter('kubelet_started_pods_total', 'Pods that were started.')
  const notStarted = counter('kubelet_started_pods_errors_total', 'Pods that could not be started.')
  const inUserNamespaces = counter(
    'kubelet_started_user_namespaced_pods_total',
    'Pods with own users that were started.',
  )
  const notInUserNamespaces = counter(
    'kubelet_started_user_namespaced_pods_errors_total',
    'Pods with own users that could not be started.',
  )
  const took = registry.histogram({
    name: 'kubelet_run_podsandbox_duration_seconds',
    help: 'How long sandboxes took to start, in seconds, by the handler of their runtime class.',
    labels: ['runtime_handler'],
  })
  const failed = registry.counter({
    name: 'kubelet_run_podsandbox_errors_total',
    help: 'Sandboxes that could not be started, by the handler of their runtime class.',
    labels: ['runtime_handler'],
  })
  return {
    ran({ isolation }: PodSandboxConfig, seconds: number, isFailed: boolean): void {
      const labels = { runtime_handler: isolation?.runtimeHandler ?? '' }
      const ownUsers = isolation?.ownUsers === true
      started.inc()
      if (ownUsers) inUserNamespaces.inc()
      took.with(labels).observe(seconds)
      if (!isFailed) return
      notStarted.inc()
      if (ownUsers) notInUserNamespaces.inc()
      failed.with(labels).inc()
    },
  }
}
