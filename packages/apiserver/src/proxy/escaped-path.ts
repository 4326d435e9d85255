/** As Go writes a path: what is no letter or digit, and none of these marks, as bytes. */
export const escapedPath = (path: string): string =>
  path.replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]+/g, (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
