import { afterAll, beforeAll, describe } from 'vitest'
import { subject, templates } from '../packages/cli/src/output/go-template/testing/templates.ts'
import { configMap, manifest } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// Templates in Go's language, by kubectl's own engine and by ours, over the same object: how their output and their errors are
// shown. What becomes of all the others, kubectl.test.ts beside the engine compares with what kubectl has answered.

let program: Program
beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
})
afterAll(() => program[Symbol.asyncDispose]())

const lines = (all: readonly string[]): readonly Step[] =>
  all.map((template) => `get podtemplate web -o ARG:go-template=${template}`)

const scenarios: Readonly<Record<string, readonly Step[]>> = Object.fromEntries(
  Object.entries({
    fields: templates.fields,
    ranges: templates.ranges,
    malformed: templates['malformed templates']?.slice(0, 8),
  }).map(([name, all = []]): [string, readonly Step[]] => [name, [['create -f -', manifest(subject)], ...lines(all)]]),
)

const flags: Readonly<Record<string, readonly Step[]>> = {
  'where templates are given': [
    ['create -f -', manifest(configMap('a', { k: '1' }), configMap('b', { k: '2' }))],
    'get cm a b -o ARG:go-template={{range .items}}{{.metadata.name}} {{end}}',
    'get cm a --template ARG:{{.data.k}}',
    'get cm a --template={{.data.k}}',
    'get cm a -o go-template --template={{.data.k}}',
    'get cm a -o template={{.data.k}}',
    'get cm a -o jsonpath --template={.data.k}',
    'get cm a -o json --template={.data.k}',
    'get cm a -o go-template',
    'get cm a -o go-template=',
    'get cm a -o go-template-file=nowhere.tpl',
    'get cm a -o templatefile --template=nowhere.tpl',
    'get cm a -o bogus',
    'get cm a -o go-template={{.nowhere}} --allow-missing-template-keys=false',
    'get cm a -o go-template={{.nowhere.x}} --allow-missing-template-keys=false',
    'get cm a -o go-template={{.data.k}}{{.data.k.x}}',
    'create cm c --from-literal=a=1 -o go-template={{.metadata.name}}',
    'label cm a x=y --template={{.metadata.labels.x}}',
    'label cm a x=z --overwrite -o go-template={{.nowhere}} --allow-missing-template-keys=false',
    'patch cm a -p {} -o go-template={{.metadata.name}}',
    'get cm a -o jsonpath={.metadata.managedFields[0].manager}',
    'get cm a -o ARG:go-template={{(index .metadata.managedFields 0).manager}}',
    'get cm nobody -o go-template={{.kind}}',
    'get cm -o go-template={{.kind}}',
    'get cm -l no=where -o go-template={{.kind}}',
    'wait --for=create cm/a -o go-template={{.kind}}',
    'delete cm a -o go-template={{.kind}}',
  ],
}

describe('Go templates of coracle beside those of kubectl', () => {
  compareScenarios(() => program, { ...scenarios, ...flags })
})
