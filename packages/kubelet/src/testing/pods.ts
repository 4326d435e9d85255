import { type Container, type Pod, type PodSpec, type PodStatus, parseTime } from '@coracle/api'
import type { ContainerRuntimeStatus, PodSandboxStatus } from '../runtimes/runtime.ts'

/** A moment in tests: 2026-01-01T00:00:00Z, where virtual clocks start. */
export const startMs = parseTime('2026-01-01T00:00:00Z')

/** A pod with one container `web` on node `node-a`, or what is given. */
export function testPod(
  spec: Partial<PodSpec> = {},
  more: { readonly metadata?: Partial<Pod['metadata']>; readonly status?: PodStatus } = {},
): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'uid-1', generation: 1, ...more.metadata },
    spec: { nodeName: 'node-a', restartPolicy: 'Always', containers: [testContainer()], ...spec },
    ...(more.status === undefined ? {} : { status: more.status }),
  }
}

export function testContainer(fields: Partial<Container> = {}): Container {
  return { name: 'web', image: 'nginx:1', ...fields }
}

/** The sandbox of the test pod. */
export function testSandbox(fields: Partial<PodSandboxStatus> = {}): PodSandboxStatus {
  return {
    id: 's0',
    podUid: 'uid-1',
    podName: 'web',
    podNamespace: 'default',
    attempt: 0,
    ready: true,
    createdAtMs: startMs,
    addresses: ['127.1.0.1'],
    ...fields,
  }
}

/** A run of a container of the test pod: running unless it has an exit code. */
export function testRun(fields: Partial<ContainerRuntimeStatus> = {}): ContainerRuntimeStatus {
  const { exitCode } = fields
  return {
    id: 'c0',
    sandboxId: 's0',
    podUid: 'uid-1',
    name: 'web',
    attempt: 0,
    image: 'nginx:1',
    imageRef: 'nginx:1',
    createdAtMs: startMs,
    startedAtMs: startMs,
    ...(exitCode === undefined
      ? { state: 'running' }
      : { state: 'exited', finishedAtMs: startMs + 1000, reason: exitCode === 0 ? 'Completed' : 'Error' }),
    ...fields,
  }
}
