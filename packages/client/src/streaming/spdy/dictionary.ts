/** Names and values that headers are compressed with, each written with its length before it (SPDY/3, 2.6.10.1). */
const words: readonly string[] = [
  ...'options head post put delete trace'.split(' '),
  ...'accept accept-charset accept-encoding accept-language accept-ranges age allow authorization'.split(' '),
  ...'cache-control connection content-base content-encoding content-language content-length'.split(' '),
  ...'content-location content-md5 content-range content-type date etag expect expires from host'.split(' '),
  ...'if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location'.split(' '),
  ...'max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server'.split(' '),
  ...'te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate'.split(' '),
  ...['method', 'get', 'status', '200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie'],
  ...['keep-alive', 'origin'],
]

/** The rest of the dictionary: one text. */
const tail = [
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505',
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized',
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable',
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT',
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,',
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.',
].join('')

/** The preset dictionary that both ends of a session begin to compress headers with. */
export const headerDictionary: Buffer = Buffer.concat([
  ...words.flatMap((word) => [lengthOf(word), Buffer.from(word)]),
  Buffer.from(tail),
])

/** Its checksum, by which a compressed stream names it (RFC 1950, DICTID). */
export const headerDictionaryId = 0xe3c6a7c2

function lengthOf(word: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(word.length)
  return length
}
