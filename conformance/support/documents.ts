import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A fenced block of a document. */
export interface Block {
  /** Where it stands: `README.md:12`. */
  readonly where: string
  readonly document: string
  /** The first word after the fence: `ts`, `sh`, `console`; empty for output and drawings. */
  readonly language: string
  /** The words after it: how the block is to be taken. */
  readonly marks: readonly string[]
  readonly text: string
}

/**
 * What may stand after a fence: `no-run` is only read, `consumer` is run in a project beside the checkout, and what the commands of a
 * `checked` transcript print is compared with what it says. Nothing else, so that a mistyped mark does not turn a check off.
 */
export const knownMarks: ReadonlySet<string> = new Set(['no-run', 'consumer', 'checked'])

/** Languages of blocks, and whether what they say is run: `yaml` and plain blocks are read by people and by no test. */
export const languages: Readonly<Record<string, 'run' | 'read'>> = {
  ts: 'run',
  sh: 'run',
  console: 'run',
  yaml: 'read',
  json: 'read',
  ini: 'read',
  '': 'read',
}

/** The documents whose blocks are checked: what somebody new reads. */
export function documents(root: string): readonly string[] {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)
  const guide = readdirSync(join(root, 'docs/guide')).map((name) => `docs/guide/${name}`)
  const others = ['README.md', 'examples/README.md', 'bench/README.md', 'packages/api/test/data/README.md']
  return [...others, ...packages, ...guide].sort()
}

/** The fenced blocks of a document, in order. */
export function blocksOf(root: string, document: string): readonly Block[] {
  const lines = readFileSync(join(root, document), 'utf8').split('\n')
  const blocks: Block[] = []
  for (let index = 0; index < lines.length; index++) {
    const [, indent, info] = /^( *)```(.*)$/.exec(lines[index] ?? '') ?? []
    if (indent === undefined || info === undefined) continue
    const start = index + 1
    while (index + 1 < lines.length && !/^ *```$/.test(lines[++index] ?? ''));
    const [language = '', ...marks] = info.trim().split(/\s+/)
    const text = lines.slice(start, index).map((line) => line.slice(indent.length))
    blocks.push({ where: `${document}:${start}`, document, language, marks, text: `${text.join('\n')}\n` })
  }
  return blocks
}

/** A link of a document to a file of the repository, as it stands there: `../guarantees.md#reads`. */
export interface Link {
  readonly document: string
  readonly target: string
}

/** The links of all documents, decisions among them, but for those to other sites. */
export function linksOf(root: string): readonly Link[] {
  const more = ['docs', 'docs/decisions', 'docs/reference', 'bench', 'torture', 'examples/operator'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  )
  return [...new Set([...documents(root), ...more])].flatMap((document) => {
    const prose = readFileSync(join(root, document), 'utf8').replaceAll(/^ *```.*?^ *```$/gms, '')
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => ({ document, target }))
  })
}

/** The anchors of a document's headings, as GitHub makes them. */
export function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** A command of a transcript and what it printed. */
export interface Exchange {
  readonly command: string
  readonly output: string
}

/** The commands of a transcript, each with the lines that follow it. */
export function exchangesOf({ text }: Block): readonly Exchange[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return { command: part.slice(0, end), output: part.slice(end + 1).trimEnd() }
    })
}

/**
 * What a command has printed, as a pattern of a transcript sees it: without what differs from run to run (the ends of names, addresses,
 * times, revisions) and without the widths of columns.
 */
export function withoutChance(output: string): string {
  return output
    .replaceAll(/\b(\w+)-[0-9a-f]{8,10}(-[a-z0-9]{5})?\b/g, '$1-…')
    .replaceAll(/\b127(\.\d+){3}\b/g, '127.…')
    .replaceAll(/\b(\d+[hms])+\b/g, '0s')
    .replaceAll(/^\d+ /gm, '0 ')
    .replaceAll(/ +/g, ' ')
    .trimEnd()
}

/** Whether a transcript says what was printed. A line of it that is `…` stands for any lines, `…` in a line for any text. */
export function matchesTranscript(printed: string, transcript: string): boolean {
  const pattern = withoutChance(transcript)
    .split('\n')
    .map((line) =>
      line === '…' ? '(?:.*\\n)*?' : `${line.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('…', '.*')}\\n`,
    )
    .join('')
  return new RegExp(`^${pattern}$`).test(`${withoutChance(printed)}\n`)
}

/** The commands of a block: of a transcript (`console`) the lines after `$ `, each with the lines it goes on over. */
export function commandsOf({ language, text }: Block): string {
  if (language !== 'console') return text
  const lines = text.split('\n').filter((line) => line.startsWith('$ '))
  return `${lines.map((line) => line.slice(2)).join('\n')}\n`
}
