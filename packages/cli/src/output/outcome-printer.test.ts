import { virtualEnvironment } from '@coracle/environment'
import { beforeEach, expect, it, vi } from 'vitest'
import { recordingHost } from '../testing/recording-host.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: [],
  namespaced: true,
  verbs: [],
  categories: [],
  subresources: [],
  isPreferredVersion: true,
}

// What is loaded later is to be loaded anew by each test.
beforeEach(() => vi.resetModules())

// A plan plays a command on a clock that goes on as soon as nothing but time is waited for.
it.each([
  ['yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n'],
  ['go-template={{.metadata.name}}', 'a'],
  ['name', 'configmap/a\n'],
])('prints as %s without any virtual time that passes', async (output, text) => {
  const { OutcomePrinter } = await import('./outcome-printer.ts')
  const environment = virtualEnvironment()
  const host = recordingHost({ environment })
  const flags = { output, dryRun: 'none', hasDeclaredOrder: true } as const
  let printed = false
  const print = async () => {
    const printer = await OutcomePrinter.for(host, flags)
    await printer.print(resource, { verb: 'created', object: configMap })
    printed = true
  }
  const printing = print()
  await environment.clock.advance('1ms')
  expect(printed).toBe(true)
  await printing
  expect(host.written.stdout).toBe(text)
})
