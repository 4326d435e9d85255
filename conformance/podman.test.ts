import { describe } from 'vitest'
import { openDockerRuntime } from '../packages/kubelet/src/runtimes/docker/index.ts'
import { EngineDaemon, needsEngine } from '../packages/kubelet/src/testing/engine-daemon.ts'
import { itRunsContainers } from './support/container-scenarios.ts'
import { itKeepsParts } from './support/part-scenarios.ts'

// Containers of a real Podman, which is started for this test with all that is its in a temporary directory.

const lacking = await EngineDaemon.probe('podman')

describe.skipIf(lacking !== undefined)('a node with Podman', needsEngine('podman', lacking), () => {
  itRunsContainers(() => EngineDaemon.start('podman'), {
    flag: 'docker',
    version: /^podman:\/\/\d+\.\d+\.\d+/,
    scheme: 'podman',
    missingImage: /^Failed to pull image ".*": (?!rpc error)\S/,
    unauthorized: /^Failed to pull image .*/,
    // With control groups of both versions, as on older systems, Podman's monitor does not tell.
    outOfMemory: /^(OOMKilled|Error)$/,
    countsTraffic: true,
    countsLayers: false,
    noImageVolumes: /^volumeMount "files" cannot be mounted at \/files: images are not mounted as volumes with podman$/,
    endsCommands: true,
    imageGroups: [],
  })

  itKeepsParts(() => EngineDaemon.start('podman'), openDockerRuntime)
})
