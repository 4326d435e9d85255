import { describe } from 'vitest'
import { openDockerRuntime } from '../packages/kubelet/src/runtimes/docker/index.ts'
import { EngineDaemon, needsEngine } from '../packages/kubelet/src/testing/engine-daemon.ts'
import { itRunsContainers } from './support/container-scenarios.ts'
import { itKeepsParts } from './support/part-scenarios.ts'

// Containers of a real Docker, which is started for this test with all that is its in a temporary directory.

const lacking = await EngineDaemon.probe('docker')

describe.skipIf(lacking !== undefined)('a node with Docker', needsEngine('docker', lacking), () => {
  itRunsContainers(() => EngineDaemon.start('docker'), {
    flag: 'docker',
    version: /^docker:\/\/\d+\.\d+\.\d+/,
    scheme: 'docker',
    missingImage: /^Failed to pull image ".*": (?!rpc error)\S/,
    unauthorized: /^Failed to pull image .*/,
    outOfMemory: /^OOMKilled$/,
    countsTraffic: true,
    countsLayers: false,
    noImageVolumes: /^volumeMount "files" cannot be mounted at \/files: images are not mounted as volumes with docker$/,
    endsCommands: true,
    imageGroups: [],
  })

  itKeepsParts(() => EngineDaemon.start('docker'), openDockerRuntime)
})
