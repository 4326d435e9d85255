import type { PodSandboxConfig } from '../runtimes/runtime.ts'

/** The sandbox of a pod `web`. */
export function sandboxConfig(podUid = 'uid-1'): PodSandboxConfig {
  return { podUid, podName: 'web', podNamespace: 'default', attempt: 0, hostname: 'web', hostNetwork: false }
}
