import { endpointSlices, services } from '@coracle/api'
import { createInformer } from '@coracle/client'
import { createFakeClient } from '@coracle/client/testing'
import { virtualEnvironment } from '@coracle/environment'
import { expect, it, onTestFinished } from 'vitest'
import { HostNames } from './host-names.ts'

it('can be opened again where that has failed, and stopped meanwhile', async () => {
  const environment = virtualEnvironment()
  const client = createFakeClient(environment)
  let problem: Error | undefined = new Error('the proxy has not started')
  const names = new HostNames({
    environment,
    isOwnNode: () => true,
    caches: async () => {
      if (problem !== undefined) throw problem
      const caches = {
        services: createInformer(client, services, {}, environment),
        slices: createInformer(client, endpointSlices, {}, environment),
      }
      onTestFinished(() => Promise.all(Object.values(caches).map((informer) => informer.stop())).then(() => {}))
      return caches
    },
  })
  const failed = names.open()
  // One that nobody else waits for would end the process.
  names.stop()
  await expect(failed).rejects.toThrow('the proxy has not started')
  problem = undefined
  expect((await names.open()).lines('default')).toBe('')
  names.stop()
})
