/**
 * What README, guide and package READMEs say works as pasted: every snippet is type-checked and run, and every command
 * is run, in the order they stand, in a directory with the examples and a cluster, or in a project beside the checkout
 * (`consumer`). A block marked `no-run` is only read.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  anchorsOf,
  type Block,
  blocksOf,
  commandsOf,
  documents,
  exchangesOf,
  knownMarks,
  languages,
  linksOf,
  matchesTranscript,
} from './support/documents.ts'
import { coracleFile, type Outcome, Program, type RunOptions, run, thriftyCompiler } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

const root = join(import.meta.dirname, '..')
const binaries = join(root, 'node_modules', '.bin')
const blocks = documents(root).flatMap((document) => blocksOf(root, document))
const hasCurl = spawnSync('curl', ['--version']).status === 0
const isRun = ({ marks }: Block) => marks.length === 0

describe('blocks of the documents', () => {
  it.each(blocks.map((block) => [block.where, block] as const))('are of a known kind: %s', (_, { language, marks }) => {
    expect(Object.keys(languages)).toContain(language)
    expect(marks.filter((mark) => !knownMarks.has(mark))).toEqual([])
  })
})

describe('links of the documents', () => {
  it('lead to files that are there, and to headings of theirs', () => {
    const broken = linksOf(root).filter(({ document, target }) => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? join(root, document) : join(root, dirname(document), path)
      if (!existsSync(file)) return true
      if (anchor === undefined) return false
      return statSync(file).isDirectory() || !anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  it('lead from the index of the guide to each of its pages', () => {
    const pages = documents(root).filter(
      (document) => document.startsWith('docs/guide/') && !document.endsWith('README.md'),
    )
    const index = linksOf(root).filter(({ document }) => document === 'docs/guide/README.md')
    const linked = new Set(index.map(({ target }) => `docs/guide/${target}`))
    expect(pages.filter((page) => !linked.has(page))).toEqual([])
  })
})

describe('snippets', () => {
  const snippets = blocks.filter((block) => block.language === 'ts' && isRun(block))
  const tests = snippets.filter(isTest)
  const scripts = snippets.filter((snippet) => !isTest(snippet))
  let directory: string
  let program: Program

  beforeAll(async () => {
    // Within the workspace, so that the packages are found as in a project that has them installed.
    mkdirSync(join(root, 'coverage'), { recursive: true })
    directory = mkdtempSync(join(root, 'coverage', 'snippets-'))
    for (const snippet of snippets) writeFileSync(join(directory, fileOf(snippet)), snippet.text)
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], compilerOptions: { noUnusedLocals: true } }),
    )
    writeFileSync(join(directory, 'vitest.config.js'), packagesAreExternal)
    program = await Program.start()
  })

  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await program?.[Symbol.asyncDispose]()
  })

  it('type-check', { timeout: 300_000 }, async () => {
    const args = [
      '--noEmit',
      '--singleThreaded',
      '--incremental',
      '--tsBuildInfoFile',
      checksFile('snippets'),
      '-p',
      directory,
    ]
    const env = withBinaries(thriftyCompiler)
    const { code, stdout } = await run(join(binaries, 'tsc'), args, { env, timeoutMs: 240_000 })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  })

  const options = () => ({ cwd: directory, env: inProject({ KUBECONFIG: program.kubeconfig }) })

  it('pass, where they are tests', { timeout: 300_000 }, async () => {
    const results = join(directory, 'results.json')
    // The limit ends a test that hangs, as it does here, and is no measure of speed.
    const limits = ['--testTimeout=110000', '--hookTimeout=110000']
    const args = ['run', '--root', directory, '--no-isolate', '--maxWorkers=1', '--reporter=json', ...limits]
    await run(join(binaries, 'vitest'), [...args, `--outputFile=${results}`], { ...options(), timeoutMs: 240_000 })
    const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as { testResults: readonly TestFileResult[] }
    const outcomes = testResults.map(({ name, status, message, assertionResults }) => [
      basename(name),
      assertionResults.flatMap(({ failureMessages }) => failureMessages).join('\n') || message || status,
    ])
    expect(outcomes.sort()).toEqual(tests.map((snippet) => [fileOf(snippet), 'passed']).sort())
  })

  const runsOn = ({ text }: Block) => text.includes('until the process is stopped')

  it.each(scripts.filter(runsOn).map((snippet) => [snippet.where, snippet] as const))('run: %s', (_, snippet) =>
    untilItActs(join(directory, fileOf(snippet)), options()),
  )

  describe('that end', () => {
    const ending = scripts.filter((snippet) => !runsOn(snippet))
    let outcome: Outcome
    beforeAll(async () => {
      outcome = await run(process.execPath, ['--input-type=module', '--eval', oneAfterAnother(ending)], {
        ...options(),
        timeoutMs: 110_000,
      })
    })

    it.each(ending.map((snippet) => [snippet.where, snippet] as const))('run: %s', (_, snippet) => {
      const { code, stdout, stderr } = outcome
      expect(stdout.split('\n'), stderr).toContain(ranThrough(snippet))
      expect(code, stderr).toBe(0)
    })
  })
})

/**
 * A script that runs snippets in one process, which loads the sources of the packages once: from what is published `release.test.ts` runs each by
 * itself. It goes on after one that fails, and ends when nothing is left running of any.
 */
const oneAfterAnother = (snippets: readonly Block[]): string =>
  snippets
    .map((snippet) => {
      const [file, line] = [`./${fileOf(snippet)}`, ranThrough(snippet)].map((text) => JSON.stringify(text))
      return `await import(${file}).then(() => console.log(${line}), (error) => { console.error(error); process.exitCode = 1 })`
    })
    .join('\n')

const ranThrough = ({ where }: Block): string => `${where} has run to its end`

/**
 * Where TypeScript's compiler keeps what it has found, for the next run of the tests: then it checks what has changed since, and what depends
 * on that.
 */
const checksFile = (name: string) => join(root, 'node_modules/.cache/coracle/checks', `${name}.tsbuildinfo`)

/** In the project of somebody else packages are in node_modules, and Vitest leaves them to Node: here they are links. */
const packagesAreExternal = String.raw`export default { test: { server: { deps: { external: [/\/packages\//] } } } }
`

/** What Vitest reports of a file of tests. */
interface TestFileResult {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[]
}

/** Runs a controller until its log tells of something it has made. */
async function untilItActs(file: string, { cwd, env }: RunOptions): Promise<void> {
  const child = spawn(process.execPath, [file], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  try {
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line)
      if (line.includes('"message":"create"')) return
    }
    throw new Error(`it has ended without having done anything:\n${lines.join('\n')}`)
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

const isTest = ({ text }: Block) => text.includes("from 'vitest'")
const fileOf = (block: Block) => `${block.where.replaceAll(/\W+/g, '-')}${isTest(block) ? '.test' : ''}.ts`
const withBinaries = (more = {}) => ({ PATH: `${binaries}:${process.env.PATH}`, ...more })

/** For what runs from its sources: Node keeps what it has compiled of them. */
const inProject = (more = {}) =>
  withBinaries({ NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/coracle/compiled'), ...more })

describe('commands', () => {
  const withCommands = documents(root).filter((document) =>
    blocks.some((block) => block.document === document && isCommand(block)),
  )

  it.skipIf(!hasCurl).each(withCommands)('run: %s', { meta: { needs: 'curl' }, timeout: 180_000 }, async (document) => {
    const home = await mkdtemp(join(tmpdir(), 'documents-'))
    try {
      for (const name of ['examples', 'packages', 'package.json', 'node_modules']) {
        symlinkSync(join(root, name), join(home, name))
      }
      const ofDocument = blocks.filter((block) => block.document === document && isCommand(block))
      const exchanges = ofDocument.filter(isChecked).flatMap(exchangesOf)
      let number = 0
      const commands = ofDocument.map((block) =>
        isChecked(block)
          ? exchangesOf(block)
              .map(({ command }) => `{ ${command}\n} > printed.${number++} 2>&1 || true`)
              .join('\n')
          : commandsOf(block),
      )
      writeFileSync(join(home, 'commands.sh'), `${prelude}\n${commands.join('\n')}\n`)
      const { kubectl } = await tools()
      const { code, stdout, stderr } = await run('bash', ['commands.sh'], {
        cwd: home,
        timeoutMs: 150_000,
        env: { ...withBinaries(thriftyTools), HOME: home, KUBECTL: kubectl, CORACLE: coracleFile },
      })
      expect(code, `${stdout}\n${stderr}`).toBe(0)
      for (const [index, { command, output }] of exchanges.entries()) {
        const printed = readFileSync(join(home, `printed.${index}`), 'utf8')
        expect(matchesTranscript(printed, output), `$ ${command}\n${printed}\nis not\n${output}`).toBe(true)
      }
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})

describe('a project of somebody else', () => {
  it('installs the packages from the checkout as the guide says, type-checks and runs', {
    timeout: 300_000,
  }, async () => {
    const home = await mkdtemp(join(tmpdir(), 'consumer-'))
    try {
      const project = join(home, 'project')
      mkdirSync(project)
      symlinkSync(root, join(home, 'coracle'))
      const [commands, tsconfig] = ['sh', 'json'].map((language) =>
        blocks.find((block) => block.language === language && block.marks.includes('consumer')),
      )
      const example = blocks.find(
        ({ document, language }) => document === 'packages/cluster/README.md' && language === 'ts',
      )
      writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true, "type": "module" }')
      writeFileSync(join(project, 'tsconfig.json'), tsconfig?.text ?? '')
      writeFileSync(join(project, 'main.ts'), example?.text ?? '')
      writeFileSync(join(project, 'commands.sh'), `${consumerPrelude}\n${commands?.text}`)
      const env = {
        ...inProject(thriftyCompiler),
        HOME: home,
        TOOLS: join(root, 'node_modules'),
        NPM: npmOfMachine(),
        CHECKS: checksFile('consumer'),
      }
      const { code, stdout, stderr } = await run('bash', ['commands.sh'], { cwd: project, env, timeoutMs: 240_000 })
      expect({ code, stdout, stderr }).toMatchObject({ code: 0, stdout: expect.stringContaining('https://127.0.0.1:') })
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})

/** The npm that runs the tests, or the machine's: not the function of that name that the commands call. */
const npmOfMachine = () => (process.env.npm_execpath === undefined ? 'command npm' : `node ${process.env.npm_execpath}`)

/** What comes from the registry is taken from the checkout: the tests need no network. */
const consumerPrelude = `
set -euo pipefail
npm() {
  if [[ "$*" == *--save-dev* ]]; then
    mkdir -p node_modules/@types
    for name in typescript @typescript @types/node undici-types; do ln -s "$TOOLS/$name" "node_modules/$name"; done
  else $NPM "$@" --offline --no-audit --no-fund; fi
}
npx() {
  if [ "$1" = tsc ]; then "$@" --singleThreaded --incremental --tsBuildInfoFile "$CHECKS"; else "$@"; fi
}
`

function isCommand(block: Block): boolean {
  return (block.language === 'sh' || block.language === 'console') && (isRun(block) || isChecked(block))
}

function isChecked({ marks }: Block): boolean {
  return marks.includes('checked')
}

/**
 * What stands in for the programs that install, or run until they are stopped. `npm ci` has been run by whoever runs the
 * tests; of other scripts it is checked that they are there; a cluster runs in the background on a port of its own, one at
 * a time; what follows something is left after its first line.
 */
const prelude = `
set -euo pipefail
exec 9>&2
up=
detached=
finish() { [ -z "$up" ] || { kill -INT $up; wait $up || true; up=; }; }
trap 'code=$?; [ $code = 0 ] || cat up.log >&2; finish; [ -z "$detached" ] || node "$CORACLE" down --all > /dev/null; exit $code' EXIT
start() {
  if [[ " $* " == *" --detach "* ]]; then
    [[ " $* " == *" --port "* || " $* " == *" --name "* ]] || set -- --port 0 "$@"
    detached=yes
    node "$CORACLE" up "$@"
    return
  fi
  finish
  rm -f up.log
  node "$CORACLE" up --port 0 "$@" > up.log 2>&1 &
  up=$!
  until grep -q 'ready at' up.log; do kill -0 $up 2> /dev/null || { cat up.log >&2; exit 1; }; sleep 0.05; done
  export KUBECONFIG=$PWD/.coracle/kubeconfig
  [[ "$*" != *yaml* ]] || until are_ready; do wait_for_pods || sleep 0.1; done
}
# kubectl, which starts in a quarter of the time that node takes: what is waited for here is not what the document says.
are_ready() { local pods; pods=$("$KUBECTL" get pods --no-headers 2> /dev/null) && [[ $pods == *1/1* && $pods != *0/1* ]]; }
# One command that waits in place of many that look.
wait_for_pods() { "$KUBECTL" wait --for=condition=Ready pods --all --timeout=5s > /dev/null 2>&1; }
npm() {
  case "$1" in
    ci) ;;
    start) shift; [ "\${1:-}" != -- ] || shift; start "$@" ;;
    test) grep -q '"test":' package.json ;;
    run) grep -q "\\"$2\\":" package.json ;;
    install) ;;
    *) echo "npm $1 is not known here" >&2; exit 1 ;;
  esac
}
follows() { [[ " $* " == *" -w "* || (" $* " == *" -f "* && " $* " == *logs* ) ]]; }
first() {
  exec 3< <(exec "$@" 2>&1)
  local follower=$! line
  read -r line <&3
  kill $follower
  exec 3<&-
}
runs() { if follows "$@"; then first "$@"; else "$@"; fi; }
coracle() {
  echo "coracle $*" >&9
  if [ "$1" = up ]; then shift; start "$@"; else NODE_COMPILE_CACHE="\${TMPDIR:-/tmp}/node-compile-cache/\${1//\\//_}" runs node "$CORACLE" "$@"; fi
}
kubectl() { echo "kubectl $*" >&9; runs "$KUBECTL" "$@"; }
npx() { "$@"; }
curl() { echo "curl $*" >&9; command curl --silent --show-error --fail "$@"; }
`
