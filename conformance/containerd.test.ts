import { describe } from 'vitest'
import { openCriRuntime } from '../packages/kubelet/src/runtimes/cri/index.ts'
import { Containerd, needsContainerd } from '../packages/kubelet/src/testing/containerd.ts'
import { itRunsContainers } from './support/container-scenarios.ts'
import { itKeepsParts } from './support/part-scenarios.ts'

// Containers of a real containerd and runc. Both are started for this test, with all that is theirs in a temporary directory.

const lacking = await Containerd.probe()

describe.skipIf(lacking !== undefined)('a node with containerd', needsContainerd(lacking), () => {
  itRunsContainers(() => Containerd.start(), {
    flag: 'cri',
    version: /^containerd:\/\/1\.\d+\.\d+/,
    scheme: 'containerd',
    missingImage: /^Failed to pull image ".*": rpc error: code = NotFound desc = failed to pull and unpack image /,
    unauthorized: /^Failed to pull image .*(401|authorization failed)/,
    outOfMemory: /^OOMKilled$/,
    countsTraffic: true,
    countsLayers: true,
    noImageVolumes:
      /^volumeMount "files" cannot be mounted at \/files: containerd 1\.\S+ mounts no images as volumes: that takes 2\.1 or later$/,
    endsCommands: false,
    imageGroups: ['4321'],
  })

  itKeepsParts(() => Containerd.start(), openCriRuntime)
})
