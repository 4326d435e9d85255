import type { Command, Option } from 'commander'
import { beforeAll, expect, it } from 'vitest'
import { createProgram } from '../packages/cli/src/program.ts'
import { recordingHost } from '../packages/cli/src/testing/recording-host.ts'
import { type KubectlCommand, type KubectlFlag, kubectlCommands } from './support/kubectl-help.ts'

// Every command and flag that kubectl's help names is here too, by the same names and with the same default, or is told
// apart below with the reason.

/** Commands that are not here. */
const otherCommands: Readonly<Record<string, string>> = {
  alpha: 'what is not finished there',
  kustomize: 'kustomizations are built by kustomize',
}

/** Flags that are not here, after their command; `*` stands for any. */
const otherFlags: Readonly<Record<string, string>> = {}

/** Defaults that are written otherwise and mean the same. */
const otherDefaults: Readonly<Record<string, string>> = {
  '* --field-manager': 'each program writes under its own name',
  'describe --show-events': 'as of 1.36 those of single objects alone are',
  '--cache-dir': 'nothing is cached in files',
  '--request-timeout': '0 is no limit, as without it',
  '--v': '0 is as without it',
  'scale --current-replicas': '-1 is as without it',
  'scale --replicas': 'it has to be given',
  'autoscale --max': 'it has to be given',
  'autoscale --min': '-1 is as without it',
  'logs --limit-bytes': '0 is as without it',
  'logs --since': '0s is as without it',
  'logs --tail': '-1 is as without it, and so is 10 with a selector',
  'port-forward --address': 'localhost is what is taken without it',
  'debug --profile': 'general is the default of 1.36',
  'debug --share-processes': 'the profile decides where it is not said, there too',
  'api-resources --namespaced': 'only what is given counts there too',
  'set selector --recursive': 'directories are taken with all below them where that is said, as by all commands',
  'wait --recursive': 'directories are taken with all below them where that is said, as by all commands',
  'create cronjob --restart': 'OnFailure is what kubectl takes without it',
  'create deployment --port': '-1 is as without it',
  'create service nodeport --node-port': '0 is as without it',
}

const program = await createProgram(recordingHost())
let commands: readonly KubectlCommand[]
beforeAll(async () => {
  commands = await kubectlCommands(new Set(Object.keys(otherCommands)))
})

function ours(words: readonly string[]): Command | undefined {
  let command: Command | undefined = program
  for (const word of words) {
    command = command?.commands.find((each) => each.name() === word || each.aliases().includes(word))
  }
  return command
}

const nameOf = (words: readonly string[], flag?: KubectlFlag): string =>
  [...words, ...(flag === undefined ? [] : [flag.long])].join(' ')

const isListed = (list: Readonly<Record<string, string>>, words: readonly string[], flag: KubectlFlag): boolean =>
  nameOf(words, flag) in list || nameOf(['*'], flag) in list

/** Flags of shared commands, each with the option that stands for it here. */
function* sharedFlags(): Generator<{ words: readonly string[]; flag: KubectlFlag; option: Option | undefined }> {
  for (const { words, flags } of commands) {
    const command = ours(words)
    if (command === undefined || nameOf(words) in otherCommands) continue
    for (const flag of flags) {
      const isCalled = ({ long }: Option) => long === flag.long
      yield { words, flag, option: command.options.find(isCalled) ?? program.options.find(isCalled) }
    }
  }
}

/** A default as kubectl's help writes it; nothing where that is what it is without the flag. */
function defaultText({ defaultValue, defaultValueDescription, negate }: Option): string {
  if (defaultValueDescription !== undefined) return defaultValueDescription
  const isNothing = negate || defaultValue === undefined || defaultValue === false || defaultValue === ''
  if (isNothing || (Array.isArray(defaultValue) && defaultValue.length === 0)) return ''
  return Array.isArray(defaultValue) ? `[${defaultValue.join(',')}]` : String(defaultValue)
}

const kubectlDefault = ({ defaultText }: KubectlFlag): string =>
  ['false', "''", '[]'].includes(defaultText) ? '' : defaultText.replace(/^'(.*)'$/, '$1')

it('has every command of kubectl', () => {
  const missing = commands.map(({ words }) => words).filter((words) => ours(words) === undefined)
  expect(missing.map((words) => nameOf(words)).filter((name) => !(name in otherCommands))).toEqual([])
})

it('has every flag of kubectl', () => {
  const missing = [...sharedFlags()].filter(
    ({ words, flag, option }) => option === undefined && !isListed(otherFlags, words, flag),
  )
  expect(missing.map(({ words, flag }) => nameOf(words, flag))).toEqual([])
})

it('names every flag in its help that kubectl names', () => {
  const hidden = [...sharedFlags()].filter(({ option }) => option?.hidden === true)
  expect(hidden.map(({ words, flag }) => nameOf(words, flag))).toEqual([])
})

it('has the short forms of kubectl', () => {
  const other = [...sharedFlags()].filter(
    ({ flag, option }) => option !== undefined && flag.short !== undefined && option.short !== flag.short,
  )
  expect(other.map(({ words, flag, option }) => [nameOf(words, flag), flag.short, option?.short])).toEqual([])
})

it('has the defaults of kubectl', () => {
  const other = [...sharedFlags()].flatMap(({ words, flag, option }) => {
    if (option === undefined || isListed(otherDefaults, words, flag)) return []
    const [theirs, own] = [kubectlDefault(flag), defaultText(option)]
    return theirs === own ? [] : [`${nameOf(words, flag)}: ${theirs} | ${own}`]
  })
  expect(other).toEqual([])
})

it('tells nothing apart that is the same', () => {
  const stale = Object.keys(otherCommands).filter((name) => ours(name.split(' ')) !== undefined)
  const flags = [...sharedFlags()]
  const needed = (list: Readonly<Record<string, string>>, isOther: (flag: (typeof flags)[number]) => boolean) => {
    const used = flags.filter(isOther).flatMap(({ words, flag }) => [nameOf(words, flag), nameOf(['*'], flag)])
    return Object.keys(list).filter((name) => !used.includes(name))
  }
  expect([
    ...stale,
    ...needed(otherFlags, ({ option }) => option === undefined),
    ...needed(
      otherDefaults,
      ({ flag, option }) => option !== undefined && kubectlDefault(flag) !== defaultText(option),
    ),
  ]).toEqual([])
})
