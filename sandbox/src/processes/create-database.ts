import { Client } from 'pg'

const DATABASE = 'bursar'

/** Creates the server's database unless it exists, and returns the database's address. */
export async function createDatabase(superuserUrl: string): Promise<string> {
  const client = new Client({ connectionString: superuserUrl })
  await client.connect()
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`create database ${DATABASE}`)
  } finally {
    await client.end()
  }
  const url = new URL(superuserUrl)
  url.pathname = `/${DATABASE}`
  return url.href
}
