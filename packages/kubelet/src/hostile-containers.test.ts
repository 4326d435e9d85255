import { type Container, pods } from '@coracle/api'
import { arbitraryOf } from '@coracle/api/testing'
import { realEnvironment } from '@coracle/environment'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { environmentVariables } from './env/environment-variables.ts'
import { expandCommand } from './env/expand-command.ts'
import { createProcessRuntime } from './runtimes/process/process-runtime.ts'
import { testPod, testSandbox } from './testing/pods.ts'
import { temporaryDirectory } from './testing/temporary-directory.ts'

/** What the schema of a container allows, with texts and numbers at the ends of what there is. */
function hostileContainers(seed: number): readonly Container[] {
  const samples = fc.sample(arbitraryOf(pods.schema, { extreme: true }), { seed, numRuns: 60 })
  return samples.flatMap(({ spec }) => spec?.containers ?? [])
}

const nothing = { configMap: async () => undefined, secret: async () => undefined, services: () => [] }

describe('containers that nobody would think of', () => {
  it('are started or refused with a message, and the runtime goes on', async () => {
    const runtime = createProcessRuntime({
      environment: realEnvironment(),
      dataDirectory: temporaryDirectory(),
      nodeName: 'node-a',
    })
    onTestFinished(async () => {
      await Promise.all((await runtime.listContainers()).map(({ id }) => runtime.stopContainer(id, 0)))
      await runtime.close()
    })
    const sandbox = await runtime.runPodSandbox({ ...testSandbox(), hostname: 'web', hostNetwork: false })
    const downward = { pod: testPod(), podAddresses: ['127.1.0.1'], nodeAddress: '127.0.0.1', allocatable: {} }
    let started = 0
    for (const [attempt, container] of hostileContainers(1).entries()) {
      try {
        const env = await environmentVariables(container, downward, nothing, new Map())
        const values = new Map(env.map(({ name, value }) => [name, value]))
        const id = await runtime.createContainer(sandbox.id, {
          name: `c${attempt}`,
          attempt,
          image: container.image ?? '',
          // Whatever the words are, what runs is harmless.
          command: ['/bin/echo', ...expandCommand(container.command, values, 'command')],
          args: expandCommand(container.args, values, 'args'),
          env,
          mounts: [],
          messageFromLog: true,
          ...(container.terminationMessagePath === undefined
            ? {}
            : { terminationMessagePath: container.terminationMessagePath }),
          ...(container.lifecycle?.stopSignal === undefined ? {} : { stopSignal: container.lifecycle.stopSignal }),
        })
        await runtime.startContainer(id)
        started++
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
        expect(error).not.toBeInstanceOf(TypeError)
        expect(error).not.toBeInstanceOf(RangeError)
      }
    }
    expect(started).toBeGreaterThan(10)
    const allEnded = async () => (await runtime.listContainers()).every(({ state }) => state !== 'running')
    await expect.poll(allEnded).toBe(true)
  })
})
