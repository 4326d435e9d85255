import { createReadStream, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream'
import { compareText } from '@coracle/api'

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Most entries of a directory that are listed. */
const entriesMax = 10_000

/**
 * Answers with a file below a directory, by its path without escapes; `index.html` stands for the directory it is in, and a list of what is there for one
 * without. Nothing outside is found.
 */
export function sendFile(directory: string, path: string, response: ServerResponse): void {
  void findFile(resolve(directory), path).then((found) => {
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
      return
    }
    if ('entries' in found) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(listOf(found.entries))
      return
    }
    const { file } = found
    const type = mediaTypes[extname(file)] ?? 'application/octet-stream'
    const content = createReadStream(file)
    content.on('open', () => response.writeHead(200, { 'content-type': type }))
    // Ends with either of them: a caller that goes away leaves no file open.
    pipeline(content, response, () => {})
  })
}

type Found = { readonly file: string } | { readonly entries: readonly Dirent[] }

async function findFile(directory: string, path: string): Promise<Found | undefined> {
  const file = resolve(directory, `./${path}`)
  const inside = directory.endsWith(sep) ? directory : directory + sep
  if (file !== directory && !file.startsWith(inside)) return undefined
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory() !== true) return found?.isFile() === true ? { file } : undefined
  const index = join(file, 'index.html')
  if ((await stat(index).catch(() => undefined))?.isFile() === true) return { file: index }
  const entries = await readdir(file, { withFileTypes: true }).catch(() => undefined)
  return entries === undefined ? undefined : { entries: entries.slice(0, entriesMax) }
}

/** A page of links, as Go's file server makes it. */
function listOf(entries: readonly Dirent[]): string {
  const links = entries
    .toSorted((a, b) => compareText(a.name, b.name))
    .map((entry) => {
      const end = entry.isDirectory() ? '/' : ''
      return `<a href="./${encodeURIComponent(entry.name)}${end}">${escapedHtml(entry.name)}${end}</a>\n`
    })
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${links.join('')}</pre>\n`
}

/** Text as it stands in HTML, and in attributes. */
export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
