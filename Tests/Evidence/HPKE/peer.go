// Seals and opens with circl's HPKE, for Scripts/special/bench-hpke. compare.py describes the lines that it reads and writes.
// Usage: peer auth|base
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/cloudflare/circl/hpke"
	"github.com/cloudflare/circl/kem"
)

type keys struct {
	isAuthenticated bool
	suite           hpke.Suite
	recipientSecret kem.PrivateKey
	recipient       kem.PublicKey
	senderSecret    kem.PrivateKey
	sender          kem.PublicKey
	info, plaintext []byte
}

func (k *keys) seal() (enc, ciphertext []byte) {
	sender, err := k.suite.NewSender(k.recipient, k.info)
	check(err)
	var sealer hpke.Sealer
	if k.isAuthenticated {
		enc, sealer, err = sender.SetupAuth(rand.Reader, k.senderSecret)
	} else {
		enc, sealer, err = sender.Setup(rand.Reader)
	}
	check(err)
	ciphertext, err = sealer.Seal(k.plaintext, nil)
	check(err)
	return
}

// open returns an error if the message isn't authentic.
func (k *keys) open(enc, ciphertext []byte) ([]byte, error) {
	receiver, err := k.suite.NewReceiver(k.recipientSecret, k.info)
	check(err)
	var opener hpke.Opener
	if k.isAuthenticated {
		opener, err = receiver.SetupAuth(enc, k.sender)
	} else {
		opener, err = receiver.Setup(enc)
	}
	if err != nil {
		return nil, err
	}
	return opener.Open(ciphertext, nil)
}

func main() {
	if len(os.Args) != 2 || (os.Args[1] != "auth" && os.Args[1] != "base") {
		fmt.Fprintln(os.Stderr, "usage: peer auth|base")
		os.Exit(64)
	}
	lines := bufio.NewScanner(os.Stdin)
	k := read(next(lines), os.Args[1] == "auth")
	fmt.Println("ready")
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch fields[0] {
		case "seal":
			enc, ciphertext := k.seal()
			fmt.Println(hex.EncodeToString(enc), hex.EncodeToString(ciphertext))
		case "open":
			plaintext, err := k.open(decode(fields[1]), decode(fields[2]))
			if err != nil {
				fmt.Println("refused")
			} else {
				fmt.Println(hex.EncodeToString(plaintext))
			}
		case "time":
			count, err := strconv.Atoi(fields[1])
			check(err)
			sealing, opening := k.time(count)
			fmt.Println(sealing, opening)
		}
	}
}

// time returns the average CPU times of this many calls, in microseconds.
func (k *keys) time(count int) (sealing, opening float64) {
	enc, ciphertext := k.seal()
	sealing = average(count, func() { k.seal() })
	opening = average(count, func() {
		_, err := k.open(enc, ciphertext)
		check(err)
	})
	return
}

func average(count int, work func()) float64 {
	start := processorTime()
	for call := 0; call < count; call++ {
		work()
	}
	return (processorTime() - start) / float64(count)
}

// processorTime returns the time that all threads have used, in microseconds; the garbage collector's, too.
func processorTime() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e3
}

func read(fields []string, isAuthenticated bool) *keys {
	scheme := hpke.KEM_X25519_HKDF_SHA256.Scheme()
	private := func(text string) kem.PrivateKey {
		key, err := scheme.UnmarshalBinaryPrivateKey(decode(text))
		check(err)
		return key
	}
	public := func(text string) kem.PublicKey {
		key, err := scheme.UnmarshalBinaryPublicKey(decode(text))
		check(err)
		return key
	}
	return &keys{
		isAuthenticated: isAuthenticated,
		suite:           hpke.NewSuite(hpke.KEM_X25519_HKDF_SHA256, hpke.KDF_HKDF_SHA256, hpke.AEAD_ChaCha20Poly1305),
		recipientSecret: private(fields[0]), recipient: public(fields[1]),
		senderSecret: private(fields[2]), sender: public(fields[3]),
		info: decode(fields[4]), plaintext: decode(fields[5]),
	}
}

func next(lines *bufio.Scanner) []string {
	if !lines.Scan() {
		os.Exit(64)
	}
	return strings.Fields(lines.Text())
}

func decode(text string) []byte {
	bytes, err := hex.DecodeString(text)
	check(err)
	return bytes
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
