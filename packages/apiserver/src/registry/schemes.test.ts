import { expect, it } from 'vitest'
import { TestServer } from '../http/testing/test-server.ts'

it('a kind of another scheme is not registered where an object is created', async () => {
  const server = await TestServer.start()
  const secret = { apiVersion: 'v1', kind: 'Secret' }
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
  const created = async (path: string, body: object) => (await server.failure(path, { method: 'POST', body })).message
  const configMaps = '/api/v1/namespaces/default/configmaps'
  expect(await created(configMaps, secret)).toBe(
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  )
  expect(await created(configMaps, crd)).toBe(
    'CustomResourceDefinition in version "v1" cannot be handled as a ConfigMap: no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
  )
  expect(await created('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', secret)).toBe(
    'Secret in version "v1" cannot be handled as a CustomResourceDefinition: no kind "Secret" is registered for version "v1" in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"',
  )
  expect(await created('/apis/apiregistration.k8s.io/v1/apiservices', secret)).toBe(
    'Secret in version "v1" cannot be handled as a APIService: no kind "Secret" is registered for version "v1" in scheme "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"',
  )
  await server.close()
})
