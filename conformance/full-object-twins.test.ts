import { builtinKinds } from '@coracle/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { customDefinition, customObjects, fullObjects, surroundings } from './support/full-objects.ts'
import { sayingEvents, withoutNewsOf136 } from './support/news-of-136.ts'
import { ObjectServer } from './support/object-server.ts'
import type { Outcome } from './support/program.ts'

// Objects of every kind with all their fields, as kubectl and coracle show them: equal to the byte. They are long ago, so that ages
// stay the same. CORACLE_TWIN_OBJECTS and CORACLE_TWIN_SEED ask for more of them, or others.

const count = Number(process.env.CORACLE_TWIN_OBJECTS ?? 1)
const seed = Number(process.env.CORACLE_TWIN_SEED ?? 1)

/** Others than there are would change what is served. */
const left = new Set(['CustomResourceDefinition', 'APIService'])
const kinds = builtinKinds.filter(({ kind }) => !left.has(kind))
const everyKind = [
  ...builtinKinds.map(({ plural, version, group }) => (group === '' ? plural : `${plural}.${version}.${group}`)),
  'horizontalpodautoscalers.v1.autoscaling',
  'things',
].join(',')

let server: ObjectServer
beforeAll(async () => {
  const objects = kinds.flatMap((kind) => fullObjects(kind, count, seed))
  server = await ObjectServer.of([...objects, ...surroundings(objects, seed), customDefinition, ...customObjects])
})
afterAll(() => server[Symbol.asyncDispose]())

describe('full objects of every kind', () => {
  it.each([
    ['are described', ['describe', everyKind, '-A']],
    ['are described without events', ['describe', everyKind, '-n', 'full', '--show-events=false']],
    ['are in tables', ['get', everyKind, '-A', '-o', 'wide', '--show-labels', '-L', 'app,example.com/role']],
    ['are printed as YAML', ['get', everyKind, '-A', '-o', 'yaml']],
    ['are printed as KYAML', ['get', everyKind, '-A', '-o', 'kyaml']],
    ['are printed as JSON', ['get', everyKind, '-A', '-o', 'json']],
    [
      'are printed by a JSONPath',
      ['get', everyKind, '-A', '-o', `jsonpath={range .items[*]}{.spec}{.status}{"\\n"}{end}`],
    ],
    [
      'are printed by a template',
      ['get', everyKind, '-A', '-o', 'go-template={{range .items}}{{.spec}}{{"\\n"}}{{end}}'],
    ],
    ['are printed in columns', ['get', everyKind, '-A', '-o', 'custom-columns=N:.metadata.name,S:.spec,T:.status']],
    [
      'are described by name, with some that are not there',
      ['describe', 'pod/pods-0', 'pod/no', 'svc/services-0', 'cm/no'],
    ],
    ['are described of several kinds by names', ['describe', 'pods,deployments,secrets', 'pods-1', 'deployments-0']],
    ['are described by a label', ['describe', 'pods,services,leases', '-l', 'app', '-n', 'full']],
    ['are described by the beginning of a name', ['describe', 'replicasets', 'replicasets']],
    ['are in tables by name, with some that are not there', ['get', 'pod/pods-0', 'pod/no', 'svc/services-0', 'cm/no']],
    ['are in tables by what their fields say', ['get', 'events', '-A', '--sort-by=.lastTimestamp', '-o', 'wide']],
    ['are in tables drawn here', ['get', 'pods,nodes,things', '-A', '--server-print=false', '-o', 'wide']],
    ['are told of as events', ['events', '-A']],
    ['are told of as events of one object', ['events', '-n', 'full', '--for', 'pod/pods-0']],
    ['are in tables with kinds', ['get', 'services', '-n', 'full', '--show-kind', '--no-headers', '-o', 'wide']],
  ])('%s', async (_, args) => {
    const line = sayingEvents(args)
    const theirs = await server.kubectl(line)
    expect(linesOf(await server.coracle(line))).toEqual(linesOf(theirs))
  })
})

const linesOf = ({ code, stdout, stderr }: Outcome) => ({ code, stdout: withoutNewsOf136(stdout).split('\n'), stderr })
