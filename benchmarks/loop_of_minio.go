// A closed loop of minio-go, the client library that warp is made of: GET or PUT of objects of one size by so many goroutines, and what that
// cost in CPU time. It records nothing.
//
//	loop_of_minio ENDPOINT BUCKET KEY SECRET get|put BYTES OBJECTS CLIENTS WARM_SECONDS WINDOW_SECONDS
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func number(place int) int {
	value, err := strconv.Atoi(os.Args[place])
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	endpoint, bucket, put := os.Args[1], os.Args[2], os.Args[5] == "put"
	size, objects, clients := number(6), number(7), number(8)
	client, err := minio.New(endpoint, &minio.Options{
		Creds:  credentials.NewStaticV4(os.Args[3], os.Args[4], ""),
		Region: "us-east-1",
	})
	if err != nil {
		panic(err)
	}
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i * 2654435761 >> 7)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var count, failed atomic.Int64
	once := func(name string) error {
		if put {
			_, err := client.PutObject(ctx, bucket, name, bytes.NewReader(content), int64(size),
				minio.PutObjectOptions{DisableMultipart: true})
			return err
		}
		object, err := client.GetObject(ctx, bucket, name, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer object.Close()
		got, err := io.Copy(io.Discard, object)
		if err == nil && got != int64(size) {
			err = fmt.Errorf("%d bytes", got)
		}
		return err
	}
	var all sync.WaitGroup
	for c := 0; c < clients; c++ {
		all.Add(1)
		go func(c int) {
			defer all.Done()
			for n := c; ctx.Err() == nil; n += clients {
				if err := once(fmt.Sprintf("loop/f%06d", n%objects)); err == nil {
					count.Add(1)
				} else if ctx.Err() == nil {
					failed.Add(1)
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}(c)
	}
	time.Sleep(time.Duration(number(9)) * time.Second)
	before, spent, begun := count.Load(), cpu(), time.Now()
	time.Sleep(time.Duration(number(10)) * time.Second)
	done, used, seconds := count.Load()-before, cpu()-spent, time.Since(begun).Seconds()
	cancel()
	all.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"failed": failed.Load(),
		"window": map[string]any{
			"count": done, "seconds": seconds, "us": float64(used.Microseconds()) / float64(max(done, 1)),
		},
	})
}
