import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Answers with a file below a directory; `index.html` stands for the directory it is in. Nothing outside is found. */
export function sendFile(directory: string, path: string, response: ServerResponse): void {
  void findFile(resolve(directory), path).then((file) => {
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('404 page not found\n')
      return
    }
    const type = mediaTypes[extname(file)] ?? 'application/octet-stream'
    const content = createReadStream(file)
    content.on('open', () => response.writeHead(200, { 'content-type': type }))
    content.on('error', () => response.destroy())
    content.pipe(response)
  })
}

async function findFile(directory: string, path: string): Promise<string | undefined> {
  const file = resolve(directory, `./${decoded(path)}`)
  if (file !== directory && !file.startsWith(directory + sep)) return undefined
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory() !== true) return found?.isFile() === true ? file : undefined
  const index = join(file, 'index.html')
  return (await stat(index).catch(() => undefined))?.isFile() === true ? index : undefined
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
