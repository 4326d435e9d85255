/**
 * `node record-kubectl-answers.ts KUBECTL KUBECONFIG`: asks a kubectl what it makes of each template, and writes that down in
 * `kubectl-answers.json`. Any server will do: the object stays with kubectl.
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { subject, templates } from './templates.ts'

const [kubectl = 'kubectl', kubeconfig = ''] = process.argv.slice(2)
const create = ['create', '--kubeconfig', kubeconfig, '--dry-run=client', '--validate=false', '-f', '-']

function answer(template: string) {
  const { status, stdout, stderr } = spawnSync(kubectl, [...create, '-o', `go-template=${template}`], {
    input: JSON.stringify(subject),
    encoding: 'utf8',
  })
  if (status === 0) return stdout
  // `error: error parsing template TEMPLATE, ERROR` or `error: error executing template "TEMPLATE": ERROR`
  const error = stderr.slice(stderr.lastIndexOf('template: output:')).trimEnd()
  const written = stdout.slice(0, Math.max(0, stdout.indexOf('Error executing template: ')))
  return { error, ...(written === '' ? {} : { written }) }
}

const answers = Object.fromEntries(
  Object.values(templates)
    .flat()
    .map((template) => [template, answer(template)]),
)
writeFileSync(new URL('kubectl-answers.json', import.meta.url), `${JSON.stringify(answers, undefined, 2)}\n`)
